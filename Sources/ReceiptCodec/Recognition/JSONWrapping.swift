// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Receipts inside JSON, under the names that Apple's interfaces use.
enum JSONWrapping {
  static let names = [
    "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo", "signedPayload",
    "receipt-data", "latest_receipt",
  ]

  /// The text of the one receipt that a JSON string or object holds.
  static func unwrap(_ json: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) -> [UInt8] {
    switch try JSONValue(parsing: json, limits: limits) {
    case .string(let text): return Array(text.utf8)
    case .object(let members):
      let found = members.filter { member in
        names.contains { UTF8Text.isIdentical($0, member.name) }
      }
      guard let only = found.first else {
        throw MalformedReceipt(
          .unrecognized, at: .jsonPath("$"),
          "The JSON object has none of the members \(names.joined(separator: ", ")).")
      }
      guard found.count == 1 else {
        throw MalformedReceipt(
          .unsupported, at: .jsonPath("$"),
          "The JSON object has several receipts: \(found.map(\.name).joined(separator: ", ")). Pass one.")
      }
      guard let text = only.value.string else {
        throw MalformedReceipt(
          .wrongType, at: .jsonPath("$.\(only.name)"), "The receipt in the JSON object is not a string.")
      }
      return Array(text.utf8)
    default:
      throw MalformedReceipt(.unrecognized, at: .jsonPath("$"), "The JSON is neither an object nor a string.")
    }
  }
}
