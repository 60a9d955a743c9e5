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

  init(_ json: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) {
    var reader = try JSONReader(json, part: "JWS payload", limits: limits)
    guard try reader.peek() == UInt8(ascii: "{") else { throw reader.wrongType("an object") }
    try reader.beginObject()
    var isFirst = true
    while try reader.nextMember(isFirst: isFirst) {
      isFirst = false
      if let index = try JWSPayloadMark.names.index(in: reader, likely: 0) { bits |= 1 &<< UInt64(index) }
      try reader.skipValue()
    }
  }

  private func contains(_ mark: JWSPayloadMark) -> Bool {
    guard let index = JWSPayloadMark.names.fields.firstIndex(of: mark) else { return false }
    return bits & (1 &<< UInt64(index)) != 0
  }

  /// The kinds whose marks are there, in the order in which they are looked for.
  var kinds: [ReceiptKind] {
    var kinds: [ReceiptKind] = []
    if contains(.notificationType) || contains(.notificationUUID) { kinds.append(.signedNotification) }
    if contains(.requestIdentifier) && contains(.userLocale) { kinds.append(.signedRealtimeRequest) }
    if contains(.receiptType) || contains(.receiptCreationDate) { kinds.append(.signedAppTransaction) }
    if contains(.autoRenewProductId) || contains(.autoRenewStatus) { kinds.append(.signedRenewalInfo) }
    if contains(.transactionId) { kinds.append(.signedTransaction) }
    return kinds
  }
}
