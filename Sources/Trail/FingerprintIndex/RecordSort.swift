// SPDX-License-Identifier: Apache-2.0

extension [IndexRecord] {
  /// Sorts records that are in ascending order of their indices.
  ///
  /// It distributes them into buckets by the upper bits of their fingerprints, which are practically random, and
  /// sorts each bucket by insertion.
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
