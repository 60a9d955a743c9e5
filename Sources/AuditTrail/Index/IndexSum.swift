// SPDX-License-Identifier: Apache-2.0

/// A sum of keyed hashes of records, in whatever order: two sets of records with the same sum are the same, except
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
    let (sum, carried) = low.addingReportingOverflow(key.low.hash(labelled, record.index))
    low = sum
    high &+= key.high.hash(labelled, record.index) &+ (carried ? 1 : 0)
  }

  /// Adds what another sum has.
  package mutating func add(_ other: IndexSum) {
    let (sum, carried) = low.addingReportingOverflow(other.low)
    low = sum
    high &+= other.high &+ (carried ? 1 : 0)
  }

  /// What the hashes are keyed with: fresh random bytes for each comparison.
  package struct Key: Sendable {
    fileprivate let low: SipHash
    fileprivate let high: SipHash

    /// A key of 32 random bytes; `nil` for any other count.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == 32 else { return nil }
      let words = (0..<4).map { bytes.span.bigEndianWord(at: 8 * $0) }
      low = SipHash(words[0], words[1])
      high = SipHash(words[2], words[3])
    }
  }
}
