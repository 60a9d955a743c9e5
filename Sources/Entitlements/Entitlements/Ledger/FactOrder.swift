// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Comparisons for total orders, key by key.
///
/// `nil` means equal, so the next key decides. An absent value is lowest.
enum FactOrder {
  static func isLower(_ left: Timestamp?, _ right: Timestamp?) -> Bool? { isLower(left, right, by: <) }

  static func isLower(_ left: Bool, _ right: Bool) -> Bool? { left == right ? nil : right }

  /// Compares by bytes, because strings that Swift considers equal may differ in their bytes.
  static func isLower(_ left: String?, _ right: String?) -> Bool? {
    isLower(left, right) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Compares transaction identifiers as decimal numbers: the longer one is later.
  static func isLower(identifier left: String?, _ right: String?) -> Bool? {
    let leftCount = left?.utf8.count ?? -1
    let rightCount = right?.utf8.count ?? -1
    return leftCount == rightCount ? isLower(left, right) : leftCount < rightCount
  }

  private static func isLower<Key>(
    _ left: Key?, _ right: Key?, by precedes: (Key, Key) -> Bool
  ) -> Bool? {
    switch (left, right) {
    case (nil, nil): nil
    case (nil, _): true
    case (_, nil): false
    case (.some(let left), .some(let right)):
      precedes(left, right) ? true : (precedes(right, left) ? false : nil)
    }
  }
}

/// A fact about a series of purchases.
///
/// Of two facts of a type the higher one is kept. The order is total over the facts' bytes, so the order of arrival
/// does not matter.
protocol PurchaseFact: JSONObject {
  /// Returns `true` if the other fact is kept instead; `nil` if the facts' meaning does not decide.
  func isLower(than other: Self) -> Bool?
}

extension PurchaseFact {
  /// Returns the higher of two facts; facts with equal bytes are the same.
  static func higher(_ left: Self?, _ right: Self?) -> Self? {
    guard let left else { return right }
    guard let right else { return left }
    if let isLower = left.isLower(than: right) { return isLower ? right : left }
    return left.encodedJSON().lexicographicallyPrecedes(right.encodedJSON()) ? right : left
  }
}
