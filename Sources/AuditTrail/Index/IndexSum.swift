// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A sum of SHA-256 hashes of records under a key, in whatever order: two sets of records with the same sum are the same, except
/// with a probability of 2^-128 for who does not know the key.
package struct IndexSum: Sendable, Hashable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The sum of no records.
  package init() {}

  /// Adds a record.
  @inline(__always)
  package mutating func add(_ record: IndexRecord, of kind: IndexKind, key: Key) {
    let labelled = UInt64(kind.rawValue) << 48 | record.fingerprint
    let words = unsafe withUnsafeBytes(
      of: (key.high, key.low, labelled, record.index, UInt64(record.check))
    ) { unsafe PrefixedSHA256.hash(prefix: nil, Span(_unsafeBytes: $0)) }
    let (sum, carried) = low.addingReportingOverflow(words.0)
    low = sum
    high &+= words.1 &+ (carried ? 1 : 0)
  }

  /// Adds what another sum has.
  package mutating func add(_ other: IndexSum) {
    let (sum, carried) = low.addingReportingOverflow(other.low)
    low = sum
    high &+= other.high &+ (carried ? 1 : 0)
  }

  /// What the hashes are keyed with: fresh random bytes for each comparison.
  package struct Key: Sendable {
    fileprivate let low: UInt64
    fileprivate let high: UInt64

    /// A key of 16 random bytes; `nil` for any other count.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == 16 else { return nil }
      high = bytes.span.bigEndianWord(at: 0)
      low = bytes.span.bigEndianWord(at: 8)
    }
  }
}
