// SPDX-License-Identifier: Apache-2.0

/// The decoded payload of a signed JWS of the App Store.
public indirect enum JWSPayload: Sendable, Hashable {
  /// A transaction.
  case transaction(JWSTransaction)
  /// Renewal information of a subscription.
  case renewalInfo(JWSRenewalInfo)
  /// The purchase or download of the app itself.
  case appTransaction(AppTransaction)
  /// An App Store Server Notification; its signed parts are not decoded.
  case notification(Notification)
  /// A request for a retention message.
  case realtimeRequest(RealtimeRequest)

  /// Reads the JSON of a payload, as the given kind or, without one, as the kind that its members imply:
  ///
  /// | Members | Kind |
  /// |---|---|
  /// | `notificationType` or `notificationUUID` | notification |
  /// | `requestIdentifier` and `userLocale` | realtime request |
  /// | `receiptType` or `receiptCreationDate` | app transaction |
  /// | `autoRenewProductId` or `autoRenewStatus` | renewal info |
  /// | `transactionId` | transaction |
  /// | `bundleId` and `environment`, and none that a transaction does not have | transaction |
  ///
  /// A payload with the members of two kinds is refused: it would be one receipt to one reader and another to
  /// the next. So is a notification about more than one thing.
  ///
  /// - Throws: ``MalformedReceipt``: `.unrecognized` at `$` if no kind is implied, `.unexpected` at `$` if two
  ///   are or another than `kind`, else as decoding the kind's own type.
  package init(
    decoding json: [UInt8], as kind: ReceiptKind? = nil, limits: ReceiptLimits = .standard,
    lenientDates: Bool = false
  ) throws(MalformedReceipt) {
    func decode<Content: WirePayload>() throws(MalformedReceipt) -> Content {
      let content = try Content(decoding: json, limits: limits, lenientDates: lenientDates)
      // No kind has a field that is the discriminator of another, so those are among the unknown ones.
      if let other = JWSPayloadDiscriminators(in: content.unknownFields).kind {
        throw MalformedReceipt(
          .unexpected, at: .jsonPath("$"),
          "The payload has members of two kinds, \(Content.kind.rawValue) and \(other.rawValue).")
      }
      return content
    }
    // The App Store writes a discriminator first in most payloads, so the first member is often enough.
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
      // Bytes that are not even JSON are reported as such.
      let value = try JSONValue(parsing: json, part: "JWS payload", limits: limits)
      // No other kind has both members. Apple's libraries ship such a transaction as test data.
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

  /// The kind of the payload.
  public var kind: ReceiptKind {
    switch self {
    case .transaction: .signedTransaction
    case .renewalInfo: .signedRenewalInfo
    case .appTransaction: .signedAppTransaction
    case .notification: .signedNotification
    case .realtimeRequest: .signedRealtimeRequest
    }
  }

  /// The payload as compact JSON: fields in the order of Apple's documentation, unknown ones last.
  public func encoded() -> [UInt8] {
    switch self {
    case .transaction(let payload): payload.encodedJSON()
    case .renewalInfo(let payload): payload.encodedJSON()
    case .appTransaction(let payload): payload.encodedJSON()
    case .notification(let payload): payload.encodedJSON()
    case .realtimeRequest(let payload): payload.encodedJSON()
    }
  }
}

extension JWSPayload: Encodable {
  /// Encodes the payload of whichever kind, by Apple's names.
  ///
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .transaction(let payload): try payload.encode(to: encoder)
    case .renewalInfo(let payload): try payload.encode(to: encoder)
    case .appTransaction(let payload): try payload.encode(to: encoder)
    case .notification(let payload): try payload.encode(to: encoder)
    case .realtimeRequest(let payload): try payload.encode(to: encoder)
    }
  }
}

extension Notification {
  /// The number of subjects that a notification has, of those that it can be about.
  fileprivate var subjectCount: Int {
    [data != nil, summary != nil, externalPurchaseToken != nil, appData != nil].count { $0 }
  }
}
