// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A multiset hash of index records, independent of their order.
///
/// It compares the records that the index has with those that it should have, without keeping them.
///
/// The hash is the value of a polynomial whose roots are the records, modulo the prime 2^61 - 1, at two points that
/// are drawn anew for each comparison. Two different sets of n records have different polynomials of degree n, so
/// they have equal values at both points with a probability of at most (n / 2^61)^2: for 80 million records, 2^-69.
/// An attacker who altered the index does not know the points.
package struct MultisetHash: Sendable, Hashable {
  package private(set) var first: UInt64 = 1
  package private(set) var second: UInt64 = 1

  package init() {}

  @inline(__always)
  package mutating func add(_ record: IndexRecord, of kind: IndexKind, at points: Points) {
    let labelled = UInt64(kind.rawValue) << 48 | record.fingerprint
    let (index, check) = (Field.reduced(record.index), UInt64(record.check))
    first = Field.product(first, points.first.factor(labelled, index, check))
    second = Field.product(second, points.second.factor(labelled, index, check))
  }

  package mutating func add(_ other: MultisetHash) {
    first = Field.product(first, other.first)
    second = Field.product(second, other.second)
  }

  package struct Points: Sendable {
    fileprivate let first: Point
    fileprivate let second: Point

    /// Creates points from random bytes, which must be fresh for each comparison; `nil` unless there are ``byteCount``.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.byteCount else { return nil }
      let span = bytes.span
      func word(_ number: Int) -> UInt64 { Field.reduced(span.bigEndian(at: 8 * number)) }
      first = Point(main: word(0), index: word(1), check: word(2))
      second = Point(main: word(3), index: word(4), check: word(5))
    }

    package static let byteCount = 48
  }

  fileprivate struct Point: Sendable {
    let main: UInt64
    let index: UInt64
    let check: UInt64

    /// The linear factor of a record: the point minus the record's numbers. The index and the check are each multiplied
    /// by a variable of their own.
    @inline(__always)
    func factor(_ labelled: UInt64, _ recordIndex: UInt64, _ recordCheck: UInt64) -> UInt64 {
      let record = Field.sum(
        Field.sum(labelled, Field.product(index, recordIndex)), Field.product(check, recordCheck))
      return Field.sum(main, Field.modulus - record)
    }
  }

  /// Numbers modulo 2^61 - 1, each less than that.
  fileprivate enum Field {
    static let modulus: UInt64 = 1 << 61 - 1

    @inline(__always)
    static func reduced(_ value: UInt64) -> UInt64 {
      let folded = value & modulus + value >> 61
      return folded >= modulus ? folded - modulus : folded
    }

    @inline(__always)
    static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 { reduced(left + right) }

    @inline(__always)
    static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
      let (high, low) = left.multipliedFullWidth(by: right)
      // 2^61 is congruent to 1, so the bits above the lower 61 are added to them.
      return reduced(low & modulus + (high << 3 | low >> 61))
    }
  }
}
