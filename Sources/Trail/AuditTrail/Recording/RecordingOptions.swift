// SPDX-License-Identifier: Apache-2.0

/// The data kept besides the facts, in the part that can be erased.
public struct RecordingOptions: Sendable, Hashable {
  /// Indicates whether the receipt itself is kept, so that it can be verified again years later; `true` by default.
  public var keepsReceipt: Bool
  /// The longest receipt that is kept, in bytes, of those whose signature was not found right: what anybody can send
  /// must not fill the disk. 65,536 by default; a longer one is recorded by its digest.
  public var maximumUnverifiedByteCount: Int
  /// The customer, in the caller's own terms and at most 65,535 bytes; by default the receipt's `appAccountToken`.
  public var customer: String?

  /// The longest receipt that is kept at all: a trail takes no more.
  static let maximumReceiptByteCount = 15 << 20
  /// The longest identifier that is recorded.
  static let maximumIdentifierByteCount = 512

  /// Creates options; the defaults keep what a later dispute needs.
  public init(keepsReceipt: Bool = true, maximumUnverifiedByteCount: Int = 65536, customer: String? = nil) {
    self.keepsReceipt = keepsReceipt
    self.maximumUnverifiedByteCount = maximumUnverifiedByteCount
    self.customer = customer
  }

  /// The one spelling under which a customer is recorded and looked up: a UUID in lower case, as the App Store writes
  /// it; any other text as it is.
  public static func canonicalCustomer(_ text: String) -> String {
    let dashes = [8, 13, 18, 23]
    var index = 0
    for byte in text.utf8 {
      let isInPlace =
        dashes.contains(index)
        ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit && byte < 0x80
      guard isInPlace else { return text }
      index += 1
    }
    return index == 36 ? text.lowercased() : text
  }
}
