// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
package import ReceiptCrypto

/// The data of an entry that can be erased without breaking a proof: the receipt and the customer's token.
///
/// The entry commits to it by SHA-256 of its encoding. The encoding includes a salt. Without it, anyone who knows the
/// entry could find out the erased data by trying candidates.
///
/// Encoding: a byte 1; the salt, 32 bytes; a byte of flags, 1 for a receipt and 2 for a customer; with a customer, the
/// length of its token in two bytes, big endian, and the token in UTF-8; with a receipt, the receipt up to the end.
///
/// The part is stored sealed (AES-256-GCM) under a key of its own, see <doc:StoredForm>. Erasing the part means
/// forgetting that key.
public struct ErasablePart: Sendable, Hashable {
  package static let saltByteCount = 32
  /// The maximum length of a customer token, in bytes of UTF-8.
  package static let maximumTokenByteCount = 65535

  /// Random bytes that are unique to this part.
  package let salt: [UInt8]
  /// The receipt.
  public let receipt: [UInt8]?
  /// The customer's token.
  public let customerToken: String?

  private static let presentMark: UInt8 = 1
  private static let receiptFlag: UInt8 = 1
  private static let customerFlag: UInt8 = 2
  private static let flagsIndex = 1 + saltByteCount
  /// The bytes before the customer token.
  static let headerByteCount = flagsIndex + 3

  /// Creates a part; throws `wrongLength` if the salt has not 32 bytes or the token more than 65,535.
  package init(salt: [UInt8], receipt: [UInt8]?, customerToken: String?) throws(MalformedErasablePart) {
    guard salt.count == Self.saltByteCount, customerToken?.utf8.count ?? 0 <= Self.maximumTokenByteCount
    else { throw MalformedErasablePart(.wrongLength, at: 0) }
    self.salt = salt
    self.receipt = receipt
    self.customerToken = customerToken
  }

  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    Self.append(salt: salt.span, receipt: receipt, customerToken: customerToken, to: &bytes)
    return bytes
  }

  /// The commitment of the entry: SHA-256 of the encoding.
  package var commitment: SHA256Digest { SHA256Digest(of: encoded) }

  /// Appends the bytes of a part, whose salt and token have the right lengths.
  static func append(salt: Span<UInt8>, receipt: [UInt8]?, customerToken: String?, to bytes: inout [UInt8]) {
    bytes.reserveCapacity(
      bytes.count + headerByteCount + (customerToken?.utf8.count ?? 0) + (receipt?.count ?? 0))
    bytes.append(presentMark)
    for index in salt.indices { bytes.append(salt[index]) }
    bytes.append((receipt == nil ? 0 : receiptFlag) | (customerToken == nil ? 0 : customerFlag))
    if let customerToken {
      let count = customerToken.utf8.count
      bytes.append(UInt8(truncatingIfNeeded: count >> 8))
      bytes.append(UInt8(truncatingIfNeeded: count))
      bytes.append(contentsOf: customerToken.utf8)
    }
    if let receipt { bytes.append(contentsOf: receipt) }
  }

  package static func parse(_ bytes: [UInt8]) throws(MalformedErasablePart) -> ErasablePart {
    let token = try tokenRange(in: bytes.span)
    let flags = bytes[flagsIndex]
    let end = token?.upperBound ?? flagsIndex + 1
    guard flags & receiptFlag != 0 || end == bytes.count else {
      throw MalformedErasablePart(.trailingBytes, at: end)
    }
    var customerToken: String?
    if let token {
      guard let text = UTF8Text.string(bytes[token]) else {
        throw MalformedErasablePart(.invalidText, at: token.lowerBound)
      }
      customerToken = text
    }
    return try ErasablePart(
      salt: Array(bytes[1...saltByteCount]), receipt: flags & receiptFlag != 0 ? Array(bytes[end...]) : nil,
      customerToken: customerToken)
  }

  /// Returns the range of the customer token; `nil` if the part has no token.
  package static func tokenRange(in bytes: Span<UInt8>) throws(MalformedErasablePart) -> Range<Int>? {
    guard bytes.count > flagsIndex else { throw MalformedErasablePart(.truncated, at: bytes.count) }
    guard bytes[0] == presentMark else { throw MalformedErasablePart(.unknownMark, at: 0) }
    let flags = bytes[flagsIndex]
    guard 0...3 ~= flags else { throw MalformedErasablePart(.unknownMark, at: flagsIndex) }
    guard flags & customerFlag != 0 else { return nil }
    guard bytes.count - flagsIndex > 2 else { throw MalformedErasablePart(.truncated, at: bytes.count) }
    let start = flagsIndex + 3
    let count = Int(bytes[flagsIndex + 1]) << 8 | Int(bytes[flagsIndex + 2])
    guard count <= bytes.count - start else { throw MalformedErasablePart(.truncated, at: bytes.count) }
    return start..<start + count
  }
}

extension MalformedErasablePart: CustomStringConvertible {
  package var description: String { "The erasable part is malformed: \(code.rawValue) at byte \(offset)." }
}
