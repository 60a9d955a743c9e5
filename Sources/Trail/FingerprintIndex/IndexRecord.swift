// SPDX-License-Identifier: Apache-2.0

/// The keys by which entries are found.
package enum IndexKind: UInt8, CaseIterable, Sendable {
  /// The key of exactly-once: a receipt, or a record's identifier.
  case receipt = 0
  /// An original transaction.
  case original
  /// A transaction.
  case transaction
  /// A customer's token; its records can be removed.
  case customer
  /// A product; at most one record a bundle.
  case product

  /// Indicates whether records of this kind are about a person: they can be removed, and no bytes of them may stay
  /// behind in the storage's free space.
  package var isPersonal: Bool { self == .customer }

  /// Indicates whether records have a check, which makes their fingerprints 80 bits long. An append takes the newest
  /// entry of an original transaction at its word, without reading it: among 10 million, the probability of a wrong one
  /// is 10^-10.
  package var hasCheck: Bool { self == .original }

  /// Indicates whether a run of this kind has a filter that is held in memory: the kinds that every append asks for.
  /// The others are asked for by people, who can wait for a page to be read from each run.
  package var hasFilter: Bool { self == .receipt || self == .original }
}

/// A record that the entry at `index` may be about the value with this fingerprint.
package struct IndexRecord: Sendable, Hashable {
  /// Of 48 bits.
  package var fingerprint: UInt64
  /// The entry's index in the log.
  package var index: UInt64
  /// 32 bits more of the fingerprint, for the kinds that have them (``IndexKind/hasCheck``); 0 for the others.
  package var check: UInt32

  /// Creates a record.
  package init(fingerprint: UInt64, index: UInt64, check: UInt32 = 0) {
    self.fingerprint = fingerprint & Self.fingerprintMask
    self.index = index
    self.check = check
  }

  /// The next record that there may be of the fingerprint.
  var successor: IndexRecord { IndexRecord(fingerprint: fingerprint, index: index &+ 1) }

  /// The bits of a fingerprint.
  package static let fingerprintMask: UInt64 = (1 << 48) - 1
}

extension IndexRecord: Comparable {
  /// By fingerprint, then by index: the order within a run.
  package static func < (a: IndexRecord, b: IndexRecord) -> Bool {
    a.fingerprint < b.fingerprint || (a.fingerprint == b.fingerprint && a.index < b.index)
  }
}
