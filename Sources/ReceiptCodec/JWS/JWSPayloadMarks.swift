// SPDX-License-Identifier: Apache-2.0

/// The members that tell which kind a payload is. No payload names its kind, so it is read from members that
/// only that kind has.
enum JWSPayloadMark: String, CaseIterable, Sendable {
  case transactionId
  case notificationType, notificationUUID
  case requestIdentifier, userLocale
  case receiptType, receiptCreationDate
  case autoRenewProductId, autoRenewStatus

  static let names = JSONFieldNames<JWSPayloadMark>()
}

/// Which marks a payload bears.
struct JWSPayloadMarks {
  private var bits: UInt64 = 0

  /// Finds the marks among a payload's members. `onlyFirst` looks at no more than the first member.
  init(in json: [UInt8], limits: ReceiptLimits, onlyFirst: Bool = false) throws(MalformedReceipt) {
    var reader = try JSONReader(json, part: "JWS payload", limits: limits)
    guard try reader.peek() == UInt8(ascii: "{") else { throw reader.wrongType("an object") }
    try reader.beginObject()
    var isFirst = true
    while try reader.nextMember(isFirst: isFirst) {
      isFirst = false
      if let index = try JWSPayloadMark.names.index(in: reader, likely: 0) { bits |= 1 &<< UInt64(index) }
      if onlyFirst { return }
      try reader.skipValue()
    }
  }

  /// Finds the marks among the fields that are none of a decoded payload's own: marks of other kinds.
  init(in unknownFields: [JSONMember]) {
    for field in unknownFields {
      guard let mark = JWSPayloadMark(rawValue: field.name),
        let index = JWSPayloadMark.names.fields.firstIndex(of: mark)
      else { continue }
      bits |= 1 &<< UInt64(index)
    }
  }

  private func contains(_ mark: JWSPayloadMark) -> Bool {
    guard let index = JWSPayloadMark.names.fields.firstIndex(of: mark) else { return false }
    return bits & (1 &<< UInt64(index)) != 0
  }

  /// The first kind whose marks are there.
  var kind: ReceiptKind? {
    if bits == 0 { return nil }
    if contains(.transactionId) { return .signedTransaction }
    if contains(.notificationType) || contains(.notificationUUID) { return .signedNotification }
    if contains(.requestIdentifier) && contains(.userLocale) { return .signedRealtimeRequest }
    if contains(.receiptType) || contains(.receiptCreationDate) { return .signedAppTransaction }
    if contains(.autoRenewProductId) || contains(.autoRenewStatus) { return .signedRenewalInfo }
    return nil
  }
}
