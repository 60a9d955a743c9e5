// SPDX-License-Identifier: Apache-2.0

/// The kinds of identifiers by which entries are looked up.
package enum IndexKind: UInt8, CaseIterable, Sendable {
  /// The identifier for exactly-once recording: a receipt, or a record's identifier.
  case receipt = 0
  /// An original transaction.
  case original
  /// A transaction.
  case transaction
  /// A customer's token. Its records can be removed.
  case customer
  /// A product, with at most one record per bundle.
  case product

  /// Indicates whether records of this kind are about a person.
  ///
  /// Such records can be removed, and must leave no bytes behind in the storage's free space.
  package var isPersonal: Bool { self == .customer }

  /// Indicates whether records have a check, which extends their fingerprints to 80 bits.
  ///
  /// An append relies on the newest entry of an original transaction without reading it. Among 10 million, the
  /// probability of a wrong one is 10^-10.
  package var hasCheck: Bool { self == .original }

  /// Indicates whether a run of this kind has a filter that is held in memory.
  ///
  /// These are the kinds that every append looks up. The others are looked up by people, who can wait while one page
  /// of each run is read.
  package var hasFilter: Bool { self == .receipt || self == .original }
}

/// An index record: the entry at `index` may contain an identifier with this fingerprint.
package struct IndexRecord: Sendable, Hashable {
  /// The fingerprint, 48 bits long.
  package var fingerprint: UInt64
  /// The entry's index in the log.
  package var index: UInt64
  /// 32 further bits of the fingerprint, for kinds that have them (``IndexKind/hasCheck``); 0 for the others.
  package var check: UInt32

  /// Creates a record.
  package init(fingerprint: UInt64, index: UInt64, check: UInt32 = 0) {
    self.fingerprint = fingerprint & Self.fingerprintMask
    self.index = index
    self.check = check
  }

  /// The least record of the fingerprint that can follow this one.
  var successor: IndexRecord { IndexRecord(fingerprint: fingerprint, index: index &+ 1) }

  /// The bit mask of a fingerprint.
  package static let fingerprintMask: UInt64 = (1 << 48) - 1
}

extension IndexRecord: Comparable {
  /// Orders by fingerprint and then by index, as in a run.
  package static func < (a: IndexRecord, b: IndexRecord) -> Bool {
    a.fingerprint < b.fingerprint || (a.fingerprint == b.fingerprint && a.index < b.index)
  }
}
