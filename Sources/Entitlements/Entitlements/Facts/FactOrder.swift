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
