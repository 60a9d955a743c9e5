// SPDX-License-Identifier: Apache-2.0

extension IndexKind {
  /// Indicates whether records of this kind are about a person. Such records can be removed, and must leave no bytes
  /// behind in the storage's free space.
  package var isPersonal: Bool { self == .customer }

  /// Indicates whether records have a check, which extends their fingerprints to 80 bits. An append relies on the
  /// newest entry of an original transaction without reading it. Among 10 million, the probability of a wrong one is
  /// 10^-10.
  package var hasCheck: Bool { self == .original }

  /// Indicates whether a run of this kind has a filter that is held in memory. These are the kinds that every append
  /// looks up. The others are looked up by people, who can wait while one page of each run is read.
  package var hasFilter: Bool { self == .receipt || self == .original }
}

/// An index record: the entry at `index` may contain an identifier with this fingerprint.
package struct IndexRecord: Sendable, Hashable {
  /// The fingerprint, 48 bits long.
  package var fingerprint: UInt64
  package var index: UInt64
  /// 32 further bits of the fingerprint, for kinds that have them (``IndexKind/hasCheck``); 0 for the others.
  package var check: UInt32

  package init(fingerprint: UInt64, index: UInt64, check: UInt32 = 0) {
    self.fingerprint = fingerprint & Self.fingerprintMask
    self.index = index
    self.check = check
  }

  /// The least record of the fingerprint that can follow this one.
  var successor: IndexRecord { IndexRecord(fingerprint: fingerprint, index: index &+ 1) }

  package static let fingerprintMask: UInt64 = (1 << 48) - 1
}

extension IndexRecord: Comparable {
  /// Orders by fingerprint and then by index, as in a run.
  package static func < (a: IndexRecord, b: IndexRecord) -> Bool {
    a.fingerprint < b.fingerprint || (a.fingerprint == b.fingerprint && a.index < b.index)
  }
}

extension [IndexRecord] {
  /// Sorts records that are in ascending order of their indices. It distributes them into buckets by the upper bits of
  /// their fingerprints, which are practically random, and sorts each bucket by insertion.
  package func sortedByFingerprint() -> [IndexRecord] {
    guard count > 64 else { return sorted() }
    let bits = UInt64(Int.bitWidth - (count / 4).leadingZeroBitCount)
    let shift = 48 - bits
    var ends = [Int](repeating: 0, count: 1 << Int(bits))
    for record in self { ends[Int(record.fingerprint >> shift)] += 1 }
    var total = 0
    for bucket in ends.indices {
      let size = ends[bucket]
      ends[bucket] = total
      total += size
    }
    var sorted = [IndexRecord](repeating: IndexRecord(fingerprint: 0, index: 0), count: count)
    for record in self {
      let bucket = Int(record.fingerprint >> shift)
      sorted[ends[bucket]] = record
      ends[bucket] += 1
    }
    var start = 0
    for end in ends {
      sorted.sortBucket(start..<end)
      start = end
    }
    return sorted
  }

  private mutating func sortBucket(_ bucket: Range<Int>) {
    // Insertion sort is quadratic. A bucket is large only if many records share few fingerprints.
    guard bucket.count <= 32 else { return self[bucket].sort() }
    for position in bucket.dropFirst() {
      let record = self[position]
      var place = position
      while place > bucket.lowerBound, record < self[place - 1] {
        self[place] = self[place - 1]
        place -= 1
      }
      self[place] = record
    }
  }
}
