// SPDX-License-Identifier: Apache-2.0

/// Damage found in the index.
package struct IndexDamage: Sendable, Hashable, CustomStringConvertible {
  /// The run; 0 where it is not about one.
  package let run: UInt64
  /// The page.
  package let page: Int?
  /// The record within the page.
  package let record: Int?
  /// What is wrong, with the place in words.
  package let description: String
}

/// Reads a run's records in order, page by page, and checks them.
struct RunCursor {
  let resident: ResidentRun
  private(set) var page: Int
  private var slot: Int
  private var records: [IndexRecord] = []
  private var last: IndexRecord?

  /// Starts at a slot of a page.
  init(_ resident: ResidentRun, page: Int = 0, slot: Int = 0) {
    self.resident = resident
    self.page = page - 1
    self.slot = slot
  }

  /// The next record, if the page that was read has one more.
  @inline(__always)
  mutating func nextInPage() -> IndexRecord? {
    guard slot < records.count else { return nil }
    slot += 1
    return records[slot - 1]
  }

  /// Reads the next page that has records; `false` after the last. Throws ``IndexDamage`` for a damaged page,
  /// after which the next one can be read.
  mutating func readPage(in reader: any StorageReader) throws -> Bool {
    while page + 1 < resident.run.pages {
      page += 1
      // Set before reading: a page that cannot be read has no records.
      let start = records.isEmpty && last == nil ? slot : 0
      (records, slot) = ([], 0)
      let content: IndexPage
      do {
        content = try IndexPage.read(page, of: resident.run, in: reader)
      } catch let error as StorageError where error.code == .corrupt {
        throw damage(nil, error.description)
      }
      let found = content.records
      try check(found, base: content.base)
      last = found.last ?? last
      (records, slot) = (found, start)
      if slot < records.count { return true }
    }
    return false
  }

  private func check(_ records: [IndexRecord], base: UInt64) throws {
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
    guard let first = records.first else { return }
    guard first.fingerprint == base, resident.fences[page] == base else {
      throw damage(0, "The page does not begin with its base, or the fence differs.")
    }
    if page + 1 < resident.fences.count, let last = records.last, last.fingerprint > resident.fences[page + 1]
    {
      throw damage(records.count - 1, "The record is above the next page's fence.")
    }
  }

  private func damage(_ record: Int?, _ message: String) -> IndexDamage {
    let place = "index run \(resident.run.number), page \(page)" + (record.map { ", record \($0)" } ?? "")
    return IndexDamage(
      run: resident.run.number, page: page, record: record,
      description: message.contains("index run") ? message : "\(place): \(message)")
  }
}

extension IndexDamage: Error {}

/// Merges runs that cover consecutive entries, oldest first, into the order of a run.
struct RunMerge {
  private var cursors: [RunCursor]
  private var heads: [IndexRecord]
  /// A tournament of fingerprint << 16 | cursor: the least is at 1, the cursors' own from ``leaves`` on. Equal
  /// fingerprints go by cursor, so by entry.
  private var keys: [UInt64]
  private let leaves: Int
  private let damaged: ((IndexDamage) throws -> Void)

  // `damaged` takes the damage of a page; where it returns, the page is passed over.
  init(
    _ cursors: [RunCursor], in reader: any StorageReader, damaged: @escaping (IndexDamage) throws -> Void
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
  mutating func next(in reader: any StorageReader) throws -> IndexRecord? {
    let least = keys[1]
    guard least != .max else { return nil }
    let cursor = Int(least & 0xFFFF)
    let record = heads[cursor]
    try advance(cursor, in: reader)
    return record
  }

  @inline(__always)
  private mutating func advance(_ cursor: Int, in reader: any StorageReader) throws {
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

  private mutating func nextOfNextPage(_ cursor: Int, in reader: any StorageReader) throws -> IndexRecord? {
    while true {
      do {
        guard try cursors[cursor].readPage(in: reader) else { return nil }
        return cursors[cursor].nextInPage()
      } catch let damage as IndexDamage {
        try damaged(damage)
      }
    }
  }
}
