// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Authoring JSON of the JWS kinds: the payload, with a missing signing date filled in.
enum JWSInput {
  static func payload(
    _ members: [JSONMember], as kind: ReceiptKind, at place: JSONPath, signedAt now: Timestamp,
    limits: ReceiptLimits
  ) throws(SigningError) -> JWSPayload {
    var members = members
    for field in required(of: kind) where !members.states(field.name) {
      throw place.missing(field.name, field.advice)
    }
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

/// A part of a notification that is signed before the notification.
struct NotificationPart: Sendable {
  enum Place: Sendable {
    case transactionInfo, renewalInfo, appTransactionInfo
  }

  let place: Place
  let payload: JWSPayload
}

/// Authoring JSON of a notification: the payload, with objects in place of the parts that are to be signed.
enum NotificationInput {
  private static let parts:
    [(holder: String, name: String, kind: ReceiptKind, place: NotificationPart.Place)] = [
      ("data", "signedTransactionInfo", .signedTransaction, .transactionInfo),
      ("data", "signedRenewalInfo", .signedRenewalInfo, .renewalInfo),
      ("appData", "signedAppTransactionInfo", .signedAppTransaction, .appTransactionInfo),
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
    var objects: [(place: JSONPath, members: [JSONMember], kind: ReceiptKind, part: NotificationPart.Place)] =
      []
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
    var signed: [NotificationPart] = []
    for object in objects {
      let part = try JWSInput.payload(
        object.members, as: object.kind, at: object.place, signedAt: notification.signedDate ?? now,
        limits: limits)
      signed.append(NotificationPart(place: object.part, payload: part))
    }
    return .notification(notification, parts: signed)
  }
}

extension [JSONMember] {
  /// Returns `true` if a member has the name and a value other than `null`.
  func states(_ name: String) -> Bool { contains { $0.name == name && $0.value != .null } }
}
