// SPDX-License-Identifier: Apache-2.0

/// The content of a signed JWS of one kind. The types come from the tables in `WireTypes/`.
package protocol WirePayload: JSONObject, Sendable, Hashable {
  /// The kind that is content of this type.
  static var kind: ReceiptKind { get }
  /// Takes the content of a payload; `nil` for one of another kind.
  init?(_ payload: JWSPayload)
}

extension WirePayload {
  /// Reads the JSON of a payload. `lenientDates` also takes dates as ISO 8601 strings, which people write and Apple
  /// does not.
  ///
  /// - Throws: ``MalformedReceipt`` with the JSON path of a field of the wrong type, out of range or repeated, else
  ///   with the byte offset.
  package init(
    decoding json: [UInt8], limits: ReceiptLimits = .standard, lenientDates: Bool = false
  ) throws(MalformedReceipt) {
    try self.init(json: json, part: "JWS payload", limits: limits, acceptsDateStrings: lenientDates)
  }
}

extension JWSTransaction {
  package static var kind: ReceiptKind { .signedTransaction }

  package init?(_ payload: JWSPayload) {
    guard case .transaction(let content) = payload else { return nil }
    self = content
  }
}

extension JWSRenewalInfo {
  package static var kind: ReceiptKind { .signedRenewalInfo }

  package init?(_ payload: JWSPayload) {
    guard case .renewalInfo(let content) = payload else { return nil }
    self = content
  }
}

extension AppTransaction {
  package static var kind: ReceiptKind { .signedAppTransaction }

  package init?(_ payload: JWSPayload) {
    guard case .appTransaction(let content) = payload else { return nil }
    self = content
  }
}

extension Notification {
  package static var kind: ReceiptKind { .signedNotification }

  package init?(_ payload: JWSPayload) {
    guard case .notification(let content) = payload else { return nil }
    self = content
  }
}

extension RealtimeRequest {
  package static var kind: ReceiptKind { .signedRealtimeRequest }

  package init?(_ payload: JWSPayload) {
    guard case .realtimeRequest(let content) = payload else { return nil }
    self = content
  }
}
