// SPDX-License-Identifier: Apache-2.0

/// A member that only one kind of payload has. Payloads do not name their kind, so it is inferred from these members.
enum JWSPayloadDiscriminator: String, CaseIterable, Sendable {
  case transactionId
  case notificationType, notificationUUID
  case requestIdentifier, userLocale
  case receiptType, receiptCreationDate
  case autoRenewProductId, autoRenewStatus

  static let names = JSONFieldNames<JWSPayloadDiscriminator>()
}

/// The discriminators that a payload has.
package struct JWSPayloadDiscriminators {
  private var bits: UInt64 = 0

  /// Finds the discriminators among a payload's members, without decoding their values. `onlyFirst` limits the search
  /// to the first member.
  package init(in json: [UInt8], limits: ReceiptLimits, onlyFirst: Bool = false) throws(MalformedReceipt) {
    var reader = try JSONReader(json, part: "JWS payload", limits: limits)
    guard try reader.peek() == UInt8(ascii: "{") else { throw reader.wrongType("an object") }
    try reader.beginObject()
    var isFirst = true
    while try reader.nextMember(isFirst: isFirst) {
      isFirst = false
      if let index = try JWSPayloadDiscriminator.names.index(in: reader, likely: 0) {
        bits |= 1 &<< UInt64(index)
      }
      if onlyFirst { return }
      try reader.skipValue()
    }
  }

  /// Finds the discriminators of other kinds, among the members without a field in a decoded payload.
  init(in unknownFields: [JSONMember]) {
    for field in unknownFields {
      guard let discriminator = JWSPayloadDiscriminator(rawValue: field.name),
        let index = JWSPayloadDiscriminator.names.fields.firstIndex(of: discriminator)
      else { continue }
      bits |= 1 &<< UInt64(index)
    }
  }

  private func contains(_ discriminator: JWSPayloadDiscriminator) -> Bool {
    guard let index = JWSPayloadDiscriminator.names.fields.firstIndex(of: discriminator) else { return false }
    return bits & (1 &<< UInt64(index)) != 0
  }

  /// The first kind whose discriminators are present; `nil` if there is no such kind.
  package var kind: ReceiptKind? {
    if bits == 0 { return nil }
    if contains(.transactionId) { return .signedTransaction }
    if contains(.notificationType) || contains(.notificationUUID) { return .signedNotification }
    if contains(.requestIdentifier) && contains(.userLocale) { return .signedRealtimeRequest }
    if contains(.receiptType) || contains(.receiptCreationDate) { return .signedAppTransaction }
    if contains(.autoRenewProductId) || contains(.autoRenewStatus) { return .signedRenewalInfo }
    return nil
  }
}
