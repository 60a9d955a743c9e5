// SPDX-License-Identifier: Apache-2.0

/// Reads a run's records in order, page by page, and checks them.
struct RunCursor {
  let resident: ResidentRun
  private var nextPage: Int
  /// The slot at which the first page is begun.
  private var firstSlot: Int
  private var slot = 0
  private var records: [IndexRecord] = []
  private var last: IndexRecord?

  init(_ resident: ResidentRun, from start: (page: Int, slot: Int) = (0, 0)) {
    self.resident = resident
    (nextPage, firstSlot) = start
  }

  /// The next record of the current page; `nil` at the end of the page.
  @inline(__always)
  mutating func nextInPage() -> IndexRecord? {
    guard slot < records.count else { return nil }
    slot += 1
    return records[slot - 1]
  }

  /// Reads the next page that has records; `false` after the last page. After it throws ``IndexError/Code/corrupt``,
  /// the next call reads the page after the damaged one.
  mutating func readPage(in reader: any IndexReader) throws -> Bool {
    while nextPage < resident.run.pages {
      let number = nextPage
      let start = firstSlot
      nextPage += 1
      (records, slot, firstSlot) = ([], 0, 0)
      guard !resident.fences.isEmpty(number) else { continue }
      var page = try resident.page(number, in: reader)
      let found = try page.records()
      try check(found, page: number)
      last = found.last
      (records, slot) = (found, start)
      if slot < records.count { return true }
    }
    return false
  }

  private func check(_ records: [IndexRecord], page: Int) throws(IndexError) {
    func damage(_ record: Int, _ message: String) -> IndexError {
      IndexError(.corrupt, at: "index run \(resident.run.number), page \(page), record \(record)", message)
    }
    guard records.first?.fingerprint == resident.fences.fingerprints[page] else {
      throw damage(0, "The page does not begin with the fingerprint of its fence.")
    }
    var previous = last
    for (number, record) in records.enumerated() {
      if let previous, record <= previous {
        throw damage(number, "The record is not above the one before it.")
      }
      guard record.index < resident.run.to else { throw damage(number, "The run does not cover the record.") }
      guard resident.mayContain(record.fingerprint) else {
        throw damage(number, "The filter denies the record.")
      }
      previous = record
    }
  }
}

/// Merges runs that cover consecutive entries, oldest first, into the record order of a run.
struct RunMerge {
  private var cursors: [RunCursor]
  private var heads: [IndexRecord]
  /// A tournament tree of fingerprint << 16 | cursor. The least key is at index 1, and the cursors' keys start at
  /// ``leaves``. Equal fingerprints are ordered by cursor, and therefore by entry.
  private var keys: [UInt64]
  private let leaves: Int
  private let damaged: (IndexError) throws -> Void

  // `damaged` receives the error of a damaged page. If it returns, the page is skipped.
  init(
    _ cursors: [RunCursor], in reader: any IndexReader, damaged: @escaping (IndexError) throws -> Void
  ) throws {
    var leaves = 1
    while leaves < cursors.count { leaves *= 2 }
    self.leaves = leaves
    self.cursors = cursors
    self.damaged = damaged
    heads = [IndexRecord](repeating: IndexRecord(fingerprint: 0, index: 0), count: cursors.count)
    keys = [UInt64](repeating: .max, count: 2 * leaves)
    for cursor in cursors.indices { try advance(cursor, in: reader) }
  }

  /// The next record; `nil` after the last.
  @inline(__always)
  mutating func next(in reader: any IndexReader) throws -> IndexRecord? {
    let least = keys[1]
    guard least != .max else { return nil }
    let cursor = Int(least & 0xFFFF)
    let record = heads[cursor]
    try advance(cursor, in: reader)
    return record
  }

  @inline(__always)
  private mutating func advance(_ cursor: Int, in reader: any IndexReader) throws {
    var key = UInt64.max
    if let record = try cursors[cursor].nextInPage() ?? nextOfNextPage(cursor, in: reader) {
      heads[cursor] = record
      key = record.fingerprint << 16 | UInt64(cursor)
    }
    var node = leaves + cursor
    keys[node] = key
    while node > 1 {
      node /= 2
      keys[node] = min(keys[2 * node], keys[2 * node + 1])
    }
  }

  private mutating func nextOfNextPage(_ cursor: Int, in reader: any IndexReader) throws -> IndexRecord? {
    while true {
      do {
        guard try cursors[cursor].readPage(in: reader) else { return nil }
        return cursors[cursor].nextInPage()
      } catch let damage as IndexError where damage.code == .corrupt {
        try damaged(damage)
      }
    }
  }
}
