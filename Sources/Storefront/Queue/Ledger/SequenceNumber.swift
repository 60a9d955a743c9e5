// SPDX-License-Identifier: Apache-2.0

/// The number of a transaction in its queue. Numbers are never reused, so that finishing a transaction twice
/// cannot finish another one.
struct SequenceNumber: Sendable, Hashable, Comparable {
  let value: Int64

  /// Fifteen digits: keys sort by number, and Swift stores strings of up to 15 bytes without an allocation.
  private static let digits = 15
  static let greatest = SequenceNumber(value: 999_999_999_999_999)

  init(value: Int64) { self.value = value }

  /// The number of a key; `nil` for any other text.
  init?(key: String) {
    guard key.utf8.count == Self.digits, key.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int64(key)
    else { return nil }
    self.value = value
  }

  /// The key of its records.
  var key: String {
    var digits = [UInt8](repeating: UInt8(ascii: "0"), count: Self.digits)
    var rest = value
    for index in digits.indices.reversed() where rest > 0 {
      digits[index] += UInt8(rest % 10)
      rest /= 10
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The key of its original's receipt.
  var originalKey: String { key + "-original" }

  var id: PaymentTransaction.ID { PaymentTransaction.ID(rawValue: key) }

  /// The identifier of the original's copy, which is not itself in the queue.
  var originalID: PaymentTransaction.ID { PaymentTransaction.ID(rawValue: originalKey) }

  static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.value < right.value }
}
