// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Authoring JSON of the JWS kinds: the payload, with a missing signing date filled in.
enum JWSInput {
  static func payload(
    _ members: [JSONMember], as kind: ReceiptKind, at place: JSONPath, signedAt now: Timestamp,
    limits: ReceiptLimits
  ) throws(SigningError) -> JWSPayload {
    var members = members
    try members.require(required(of: kind), at: place)
    if kind == .signedRenewalInfo, !members.states("autoRenewProductId"),
      !members.states("autoRenewStatus")
    {
      throw place.missing(
        "autoRenewStatus", "Give it (0 off, 1 on) or autoRenewProductId: by these the kind is recognised.")
    }
    let signingDate = kind == .signedAppTransaction ? "receiptCreationDate" : "signedDate"
    if !members.states(signingDate) {
      members.removeAll { $0.name == signingDate }
      members.append(JSONMember(name: signingDate, value: .integer(Int64(clamping: now.wholeMilliseconds))))
    }
    do throws(MalformedReceipt) {
      return try JWSPayload(
        decoding: JSONValue.object(members).encoded(), as: kind, limits: limits, lenientDates: true)
    } catch {
      throw place.failure(error)
    }
  }

  private static func required(of kind: ReceiptKind) -> [(name: String, advice: String)] {
    switch kind {
    case .signedTransaction: TransactionFields.required
    case .signedRenewalInfo:
      [
        ("originalTransactionId", "Add the identifier of the subscription's first transaction, a string."),
        ("productId", "Add the product's identifier, such as \"com.example.monthly\"."),
      ]
    case .signedAppTransaction:
      [
        ("bundleId", "Add the app's bundle identifier, such as \"com.example.app\"."),
        ("receiptType", "Add the environment: \"Production\", \"Sandbox\", \"Xcode\" or \"LocalTesting\"."),
      ]
    case .signedNotification:
      [
        ("notificationType", "Add the event, such as \"SUBSCRIBED\"."),
        ("notificationUUID", "Add a UUID that identifies the notification."),
      ]
    // Decoding checks the required fields of these kinds.
    case .signedRealtimeRequest, .appReceipt, .transactionReceipt, .googlePlayPurchase, .googlePlayLicense,
      .huaweiPurchase:
      []
    }
  }
}

/// The fields that identify a purchase.
enum TransactionFields {
  static let required: [(name: String, advice: String)] = [
    ("bundleId", "Add the app's bundle identifier, such as \"com.example.app\"."),
    ("productId", "Add the product's identifier, such as \"com.example.coins\"."),
    ("transactionId", "Add the identifier of this purchase, a string."),
  ]
  /// The additional field that a transaction receipt requires, because it has no other signing time.
  static let purchaseDate = (
    name: "purchaseDate",
    advice: "Add it in milliseconds since 1970 or as ISO 8601, such as \"2025-10-01T07:09:12Z\"."
  )
}

/// A part of a notification that is signed before the notification, and what puts the signed part into it.
typealias NotificationPart = (payload: JWSPayload, place: NotificationInput.Place)

/// Authoring JSON of a notification: the payload, with objects in place of the parts that are to be signed.
enum NotificationInput {
  typealias Place = @Sendable (inout Notification, String) -> Void

  private static let parts: [(holder: String, name: String, kind: ReceiptKind, place: Place)] = [
    ("data", "signedTransactionInfo", .signedTransaction, { $0.data?.signedTransactionInfo = $1 }),
    ("data", "signedRenewalInfo", .signedRenewalInfo, { $0.data?.signedRenewalInfo = $1 }),
    (
      "appData", "signedAppTransactionInfo", .signedAppTransaction,
      { $0.appData?.signedAppTransactionInfo = $1 }
    ),
  ]

  static func content(
    _ members: [JSONMember], signedAt now: Timestamp, limits: ReceiptLimits
  ) throws(SigningError) -> ReceiptInput.Content {
    var members = members
    let subjects = ["data", "summary", "externalPurchaseToken", "appData"]
    guard members.contains(where: { subjects.contains($0.name) }) else {
      throw JSONPath().missing(
        "data", "A notification is about one of data, summary, externalPurchaseToken and appData: add it.")
    }
    var objects: [(path: JSONPath, members: [JSONMember], kind: ReceiptKind, place: Place)] = []
    for part in parts {
      guard let holder = members.firstIndex(where: { $0.name == part.holder }),
        case .object(var inner) = members[holder].value,
        let index = inner.firstIndex(where: { $0.name == part.name }),
        case .object(let object) = inner[index].value
      else { continue }
      inner.remove(at: index)
      members[holder].value = .object(inner)
      objects.append((JSONPath().member(part.holder).member(part.name), object, part.kind, part.place))
    }
    let payload = try JWSInput.payload(
      members, as: .signedNotification, at: JSONPath(), signedAt: now, limits: limits)
    guard case .notification(let notification) = payload else { return .jws(payload) }
    let signedAt = notification.signedDate ?? now
    let parts = try objects.map { object throws(SigningError) -> NotificationPart in
      let payload = try JWSInput.payload(
        object.members, as: object.kind, at: object.path, signedAt: signedAt, limits: limits)
      return (payload, object.place)
    }
    return .notification(notification, parts: parts)
  }
}

extension [JSONMember] {
  /// Returns `true` if a member has the name and a value other than `null`.
  func states(_ name: String) -> Bool { contains { $0.name == name && $0.value != .null } }

  /// Throws an error, with its advice, for a field that has no value.
  func require(
    _ fields: [(name: String, advice: String)], at place: JSONPath
  ) throws(SigningError) {
    for field in fields where !states(field.name) { throw place.missing(field.name, field.advice) }
  }
}
