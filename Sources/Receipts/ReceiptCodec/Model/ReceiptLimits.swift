// SPDX-License-Identifier: Apache-2.0

/// Bounds on what a parser accepts, so that hostile input costs no more than its size.
public struct ReceiptLimits: Sendable, Hashable {
  /// The longest receipt, in bytes as received. 16 MiB by default.
  public var maximumByteCount: Int
  /// The deepest nesting of ASN.1 or JSON values. 32 by default.
  public var maximumDepth: Int
  /// The most attributes of an app receipt, its in-app purchases' attributes included, and the most members
  /// and elements of a JSON document. 1,000,000 by default.
  public var maximumElementCount: Int

  /// Creates limits; the defaults fit every genuine receipt.
  public init(
    maximumByteCount: Int = 16 << 20, maximumDepth: Int = 32, maximumElementCount: Int = 1_000_000
  ) {
    self.maximumByteCount = maximumByteCount
    self.maximumDepth = maximumDepth
    self.maximumElementCount = maximumElementCount
  }

  /// 16 MiB, 32 levels, a million elements.
  public static let standard = ReceiptLimits()
}
