// SPDX-License-Identifier: Apache-2.0

/// The decoded payload of a signed JWS of the App Store.
public indirect enum JWSPayload: Sendable, Hashable {
  /// A transaction.
  case transaction(JWSTransaction)
  /// The renewal information of a subscription.
  case renewalInfo(JWSRenewalInfo)
  /// The purchase or download of the app itself.
  case appTransaction(AppTransaction)
  /// An App Store Server Notification. Its signed parts are not decoded.
  case notification(Notification)
  /// A request for a retention message.
  case realtimeRequest(RealtimeRequest)

  /// Decodes a payload from JSON as the given kind, or else as the kind that its members imply.
  ///
  /// | Members | Kind |
  /// |---|---|
  /// | `notificationType` or `notificationUUID` | notification |
  /// | `requestIdentifier` and `userLocale` | realtime request |
  /// | `receiptType` or `receiptCreationDate` | app transaction |
  /// | `autoRenewProductId` or `autoRenewStatus` | renewal info |
  /// | `transactionId` | transaction |
  /// | `bundleId` and `environment`, and only members that a transaction has | transaction |
  ///
  /// A payload with members of two kinds is rejected, because two readers could see two different receipts. A
  /// notification about more than one subject is rejected too.
  ///
  /// - Throws: ``MalformedReceipt``. The code is `.unrecognized` at `$` if no kind is implied, `.unexpected` at `$` if
  ///   two kinds are implied or a kind other than `kind`, and otherwise that of decoding the kind's own type.
  package init(
    decoding json: [UInt8], as kind: ReceiptKind? = nil, limits: ReceiptLimits = .standard,
    lenientDates: Bool = false
  ) throws(MalformedReceipt) {
    func decode<Content: WirePayload>() throws(MalformedReceipt) -> Content {
      let content = try Content(decoding: json, limits: limits, lenientDates: lenientDates)
      // No kind has a field that is another kind's discriminator, so such members are among the unknown fields.
      if let other = JWSPayloadDiscriminators(in: content.unknownFields).kind {
        throw MalformedReceipt(
          .unexpected, at: .jsonPath("$"),
          "The payload has members of two kinds, \(Content.kind.rawValue) and \(other.rawValue).")
      }
      return content
    }
    // The App Store writes a discriminator first in most payloads, so the first member is often sufficient.
    var found = kind
    if found == nil { found = try JWSPayloadDiscriminators(in: json, limits: limits, onlyFirst: true).kind }
    if found == nil { found = try JWSPayloadDiscriminators(in: json, limits: limits).kind }
    switch found {
    case .signedTransaction: self = .transaction(try decode())
    case .signedRenewalInfo: self = .renewalInfo(try decode())
    case .signedAppTransaction: self = .appTransaction(try decode())
    case .signedNotification: self = .notification(try decode())
    case .signedRealtimeRequest: self = .realtimeRequest(try decode())
    case .appReceipt, .transactionReceipt, .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase:
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("$"), "A receipt of the kind \(found?.rawValue ?? "") is no JWS payload.")
    case nil:
      // Report input that is not JSON as such.
      let value = try JSONValue(parsing: json, part: "JWS payload", limits: limits)
      // Only transactions have both members. Apple's libraries contain such a transaction as test data.
      if value["bundleId"] != nil, value["environment"] != nil {
        let transaction: JWSTransaction = try decode()
        if transaction.unknownFields.isEmpty {
          self = .transaction(transaction)
          break
        }
      }
      throw MalformedReceipt(
        .unrecognized, at: .jsonPath("$"),
        "The payload is of no known kind: it has none of "
          + JWSPayloadDiscriminator.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    if case .notification(let notification) = self, notification.subjectCount > 1 {
      throw MalformedReceipt(
        .unexpected, at: .jsonPath("$"),
        "A notification has one of data, summary, externalPurchaseToken and appData; this one has more.")
    }
  }

  package var kind: ReceiptKind {
    switch self {
    case .transaction: .signedTransaction
    case .renewalInfo: .signedRenewalInfo
    case .appTransaction: .signedAppTransaction
    case .notification: .signedNotification
    case .realtimeRequest: .signedRealtimeRequest
    }
  }

  /// Returns the payload as compact JSON, with fields in the order of Apple's documentation and unknown fields last.
  package func encoded() -> [UInt8] { content.encodedJSON() }

  /// The payload with the type of its kind.
  var content: any WirePayload {
    switch self {
    case .transaction(let payload): payload
    case .renewalInfo(let payload): payload
    case .appTransaction(let payload): payload
    case .notification(let payload): payload
    case .realtimeRequest(let payload): payload
    }
  }
}

extension JWSPayload: Encodable {
  /// Encodes the payload of any kind under Apple's names.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws { try content.encodeFields(to: encoder) }
}

extension Notification {
  /// The number of subjects that the notification has; a genuine one has at most one.
  fileprivate var subjectCount: Int {
    [data != nil, summary != nil, externalPurchaseToken != nil, appData != nil].count { $0 }
  }
}

/// The payload of a signed JWS of one kind. The types are generated from the tables in `WireTypes/`.
package protocol WirePayload: JSONObject, Sendable, Hashable {
  static var kind: ReceiptKind { get }
}

extension WirePayload {
  /// Extracts the content of a payload; `nil` if the payload is of another kind.
  package init?(_ payload: JWSPayload) {
    guard let content = payload.content as? Self else { return nil }
    self = content
  }

  /// Decodes a payload from JSON. `lenientDates` also accepts ISO 8601 strings as dates: people write them, but Apple
  /// does not.
  ///
  /// - Throws: ``MalformedReceipt`` with the JSON path of a field that is duplicate, out of range or of the wrong type,
  ///   or else with the byte offset.
  package init(
    decoding json: [UInt8], limits: ReceiptLimits = .standard, lenientDates: Bool = false
  ) throws(MalformedReceipt) {
    try self.init(json: json, part: "JWS payload", limits: limits, acceptsDateStrings: lenientDates)
  }
}
