// SPDX-License-Identifier: Apache-2.0

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

extension JWSTransaction {
  package static var kind: ReceiptKind { .signedTransaction }
}

extension JWSRenewalInfo {
  package static var kind: ReceiptKind { .signedRenewalInfo }
}

extension AppTransaction {
  package static var kind: ReceiptKind { .signedAppTransaction }
}

extension Notification {
  package static var kind: ReceiptKind { .signedNotification }
}

extension RealtimeRequest {
  package static var kind: ReceiptKind { .signedRealtimeRequest }
}
