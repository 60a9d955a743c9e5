// SPDX-License-Identifier: Apache-2.0

/// Recognizes names of purchases, which are sent in place of receipts and prove nothing, so that the refusal says what they
/// are good for.
enum PurchaseName {
  private static let maximumByteCount = 2048

  /// Returns the error for a text that names a purchase; `nil` for any other text.
  static func refusal(of text: [UInt8]) -> MalformedReceipt? {
    guard text.count <= maximumByteCount, let name = description(of: text) else { return nil }
    return MalformedReceipt(
      .unrecognized, at: .whole,
      "This is \(name), which names a purchase and proves nothing. Ask the store about it (receipt-tool lookup, POST "
        + "/v1/lookup), or send the receipt.")
  }

  private static func description(of text: [UInt8]) -> String? {
    // The hexadecimal form of a DER sequence may have no other digits either.
    if 6...20 ~= text.count, !text.starts(with: "308".utf8),
      text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    {
      return "a transaction identifier of the App Store"
    }
    // A token has 24 small letters, a dot, and a part that begins with AO-J.
    let letters = text.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    return letters.count == 24 && text.dropFirst(24).starts(with: ".AO-J".utf8)
      ? "a purchase token of Google Play" : nil
  }
}
