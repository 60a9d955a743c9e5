// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Compound keys.
package enum StoreKey {
  /// Joins parts with slashes. Characters other than letters, digits, hyphens, dots and underscores are escaped, so
  /// that different parts never give the same key.
  package static func joined(_ parts: String...) -> String {
    parts.map { escaped($0) }.joined(separator: "/")
  }

  /// The prefix of all keys with this first part.
  package static func prefix(_ part: String) -> String { escaped(part) + "/" }

  /// A number as 16 digits, so that keys sort by number.
  package static func number(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
  }

  /// A key that sorts by date, in milliseconds, and then by number.
  package static func dated(_ date: Timestamp, _ number: Int64) -> String {
    joined(Self.number(Int64(date.wholeMilliseconds)), Self.number(number))
  }

  /// A key that sorts by date, in milliseconds from 1970 on, and then by subscription.
  static func due(_ date: Timestamp, _ subscription: String) -> String {
    joined(number(Int64(max(0, date.wholeMilliseconds))), subscription)
  }

  private static func escaped(_ part: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(part.utf8.count)
    for byte in part.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        text.append(byte)
      default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension StoreHeader {
  static let key = "store"
  /// The version of the records' format.
  static let currentVersion: Int64 = 4
}

extension StoreSaleRecord {
  package var identifier: String { transaction.transactionId ?? "" }
  package var originalIdentifier: String { transaction.originalTransactionId ?? "" }

  /// The record in the storage: JSON, and the packed receipt. The receipt usually contains the transaction in its
  /// present state.
  func record(_ texts: inout SharedTexts) -> [UInt8] {
    guard let receipt else { return encodedJSON() }
    var fields = self
    fields.receipt = nil
    let known = String(decoding: transaction.encodedJSON(), as: UTF8.self)
    return PackedText.joined(fields.encodedJSON(), PackedText.pack(receipt, &texts, known: known))
  }
}

extension SignedNotification: Identifiable {
  /// The ``number``.
  public var id: Int64 { number }

  /// The record in the outbox: JSON, and the packed text. `receipt` is stored with the transaction.
  func record(_ texts: inout SharedTexts, receipt: String? = nil) -> [UInt8] {
    var fields = self
    fields.signedPayload = ""
    return PackedText.joined(
      fields.encodedJSON(), PackedText.pack(signedPayload, &texts, known: receipt))
  }
}
