// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Prices as signed transactions state them: thousandths of the currency's unit.
enum Milliunits {
  /// A price times 1000, what is finer cut off; `nil` for one that is negative or does not fit.
  static func of(_ price: Decimal) -> Int64? {
    guard price >= 0, price <= 9_000_000_000_000 else { return nil }
    // In plain digits: never binary floating point.
    let text = (price * 1000).description
    return Int64(text.prefix { $0 != "." })
  }
}
