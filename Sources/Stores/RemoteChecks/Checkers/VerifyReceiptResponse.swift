// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The fields of a `verifyReceipt` response that the checker needs. Numbers and flags are read in every type that the
/// store has been seen to use.
struct VerifyReceiptResponse {
  /// One purchase of `in_app` or `latest_receipt_info`, or the flat receipt in the style of iOS 6.
  struct Purchase {
    let transactionId: String
    let cancellationDate: Timestamp?
    let isCancelled: Bool
  }

  let status: VerifyReceiptStatus
  let isRetryable: Bool
  let environment: String?
  let bundleId: String?
  let purchases: [Purchase]

  init(parsing body: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) {
    let document = try JSONValue(parsing: body, limits: limits)
    guard document.object != nil else {
      throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "The response is not a JSON object.")
    }
    guard let status = Self.integer(document["status"]) else {
      throw MalformedReceipt(.missing, at: .jsonPath("$.status"), "The response has no numeric status.")
    }
    self.status = VerifyReceiptStatus(rawValue: status)
    isRetryable = Self.flag(document["is-retryable"]) ?? Self.flag(document["is_retryable"]) ?? false
    environment = document["environment"]?.string
    let receipt = document["receipt"]
    bundleId = receipt?["bundle_id"]?.string ?? receipt?["bid"]?.string
    var purchases = receipt.map { [$0] } ?? []
    purchases += receipt?["in_app"]?.array ?? []
    for name in ["latest_receipt_info", "latest_expired_receipt_info"] {
      guard let info = document[name] else { continue }
      purchases += info.array ?? [info]
    }
    self.purchases = purchases.compactMap(Self.purchase)
  }

  /// `true` if asking again may give another status.
  var isTemporary: Bool {
    switch status {
    case .malformedOrTemporary, .unavailable, .internalError: true
    default: status.isInternalDataAccessError && isRetryable
    }
  }

  private static func purchase(_ value: JSONValue) -> Purchase? {
    guard let id = value["transaction_id"]?.string ?? integer(value["transaction_id"]).map(String.init) else {
      return nil
    }
    let milliseconds = integer(value["cancellation_date_ms"])
    return Purchase(
      transactionId: id, cancellationDate: milliseconds.map { Timestamp(millisecondsSince1970: Double($0)) },
      isCancelled: milliseconds != nil || value["cancellation_date"]?.string?.isEmpty == false)
  }

  private static func integer(_ value: JSONValue?) -> Int64? {
    value?.int64 ?? value?.string.flatMap { Int64($0) }
  }

  private static func flag(_ value: JSONValue?) -> Bool? {
    if case .bool(let flag)? = value { return flag }
    if let number = integer(value) { return number != 0 }
    return value?.string.map { $0 == "true" }
  }
}

extension VerifyReceiptStatus: CustomStringConvertible {
  /// `true` for 21100 to 21199.
  var isInternalDataAccessError: Bool { 21100...21199 ~= rawValue }

  var description: String {
    let fallback = isInternalDataAccessError ? "an internal data access error" : "an unknown status"
    return "Status \(rawValue): \(meaning ?? fallback)."
  }
}
