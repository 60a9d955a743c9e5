// SPDX-License-Identifier: Apache-2.0

/// Limits of a parser, so that the cost of hostile input is proportional to its size.
public struct ReceiptLimits: Sendable, Hashable {
  /// The maximum size of a receipt, in bytes as received. 16 MiB by default.
  package var maximumByteCount: Int
  /// The maximum nesting of ASN.1 or JSON values. 32 by default.
  package var maximumDepth: Int
  /// The maximum number of attributes of an app receipt, or of members and elements of a JSON document. The attributes
  /// of in-app purchases count too. 1,000,000 by default.
  package var maximumElementCount: Int

  /// Creates limits; every genuine receipt is within the defaults.
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
