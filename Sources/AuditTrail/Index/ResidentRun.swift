// SPDX-License-Identifier: Apache-2.0

/// A run with what is held of it in memory: the first fingerprint of each page, the filter, and pages that were read.
final class ResidentRun: Sendable {
  let run: IndexRun
  let fences: [UInt64]
  let filter: BlockedFilter?
  /// `nil` where every lookup is to read what is stored.
  private let keptPages: KeptPages?
  private let memory: IndexMemory?

  /// Loads the fences, and the filter where the kind has one and `withFilter` asks for it.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - reader: Where it is.
  ///   - withFilter: Whether the filter is loaded.
  ///   - memory: What pages are kept in, of the kinds that every append asks for; without it none are kept.
  /// - Throws: ``StorageError``.
  init(
    _ run: IndexRun, in reader: any StorageReader, withFilter: Bool = true, memory: IndexMemory? = nil
  ) throws {
    self.run = run
    self.memory = memory
    // Pages of a personal kind change when records are removed.
    keptPages =
      run.kind.hasFilter && !run.kind.isPersonal
      ? memory.map { KeptPages(count: run.pages, in: $0) } : nil
    var fences: [UInt64] = []
    for row in 0..<(run.pages + indexRowParts - 1) / indexRowParts {
      let words = try IndexRows.words(at: run.fenceRow(row), in: reader)
      guard words.count == min(indexRowParts, run.pages - row * indexRowParts) else {
        throw run.fenceRow(row).corrupt("There are \(words.count) fences for \(run.pages) pages.")
      }
      for fence in words {
        guard fence <= IndexRecord.fingerprintMask, fence >= fences.last ?? 0 else {
          throw run.fenceRow(row).corrupt("The fences are not in order.")
        }
        fences.append(fence)
      }
    }
    self.fences = fences
    filter = withFilter && run.filterBlocks > 0 ? try Self.filter(of: run, in: reader) : nil
    memory?.take(filter?.byteCount ?? 0)
  }

  deinit { memory?.giveBack(filter?.byteCount ?? 0) }

  /// Gives the memory of pages back.
  func forgetPages() { keptPages?.forgetAll() }

  private static func filter(of run: IndexRun, in reader: any StorageReader) throws -> BlockedFilter {
    guard let filter = BlockedFilter(blockCount: run.filterBlocks) else {
      throw IndexPlace.catalogue.corrupt("There is no memory for a filter of \(run.filterBlocks) blocks.")
    }
    for row in 0..<(run.filterBlocks + indexRowParts - 1) / indexRowParts {
      let place = run.filterRow(row)
      guard let bytes = try reader.value(place.table, place.key) else {
        throw place.corrupt("The row is missing.")
      }
      try IndexChecksum.check(bytes, at: place)
      let blocks = min(indexRowParts, run.filterBlocks - row * indexRowParts)
      guard bytes.count == IndexChecksum.byteCount + 64 * blocks,
        filter.load(bytes.span, from: IndexChecksum.byteCount, block: row * indexRowParts)
      else { throw place.corrupt("A row of \(blocks) blocks cannot have \(bytes.count) bytes.") }
    }
    return filter
  }

  /// Whether the run may have records of the fingerprint.
  func mayContain(_ fingerprint: UInt64) -> Bool {
    filter?.content.mayContain(fingerprint, BlockedFilter.bits(of: fingerprint)) ?? true
  }

  /// The newest index below `before` of records of the fingerprint.
  func newest(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any StorageReader
  ) throws -> UInt64? {
    var newest: UInt64?
    try forEach(fingerprint, check: check, before: before, in: reader) { index in
      newest = index
      return false
    }
    return newest
  }

  /// Appends the indices below `before` of records of the fingerprint, newest first: at least one where there is
  /// one, at most `limit`.
  func collect(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, limit: Int, in reader: any StorageReader,
    into found: inout [UInt64]
  ) throws {
    var taken = 0
    try forEach(fingerprint, check: check, before: before, in: reader) { index in
      found.append(index)
      taken += 1
      return taken < limit
    }
  }

  /// Hands over the indices below `before` of records of the fingerprint in one page, newest first, until `body` says
  /// that it needs no more: those in the newest page that has any.
  private func forEach(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any StorageReader,
    _ body: (UInt64) -> Bool
  ) throws {
    guard before > run.from else { return }
    let sought = IndexRecord(fingerprint: fingerprint, index: before)
    var number = try lastPage(beginningBelow: sought, in: reader)
    while number >= 0 {
      let isOver = try withPage(number, in: reader) { page, bytes in
        var isFound = false
        for slot in stride(from: page.lowerBound(sought, in: bytes) - 1, through: 0, by: -1) {
          let record = page.record(slot, in: bytes)
          guard record.fingerprint == fingerprint else { return true }
          guard record.check == check else { continue }
          isFound = true
          guard body(record.index) else { return true }
        }
        return isFound
      }
      if isOver { return }
      number -= 1
    }
  }

  /// Where the record is; `nil` where it is not.
  func find(_ record: IndexRecord, in reader: any StorageReader) throws -> (page: Int, slot: Int)? {
    let above = IndexRecord(fingerprint: record.fingerprint, index: record.index + 1)
    guard let (number, slot, last) = try predecessor(of: above, in: reader), last == record else {
      return nil
    }
    return (number, slot)
  }

  /// The last record below `record`, and where it is.
  func predecessor(
    of record: IndexRecord, in reader: any StorageReader
  ) throws -> (page: Int, slot: Int, record: IndexRecord)? {
    var number = try lastPage(beginningBelow: record, in: reader)
    while number >= 0 {
      let last: (slot: Int, record: IndexRecord)? = try withPage(number, in: reader) { page, bytes in
        let slot = page.lowerBound(record, in: bytes) - 1
        return slot < 0 ? nil : (slot, page.record(slot, in: bytes))
      }
      if let last { return (number, last.slot, last.record) }
      number -= 1
    }
    return nil
  }

  /// The last page whose first record is below `record`, or that lost all its records; -1 where there is none.
  private func lastPage(beginningBelow record: IndexRecord, in reader: any StorageReader) throws -> Int {
    // Pages before `low` begin below the fingerprint, those from `high` on above it.
    var low = fences.partitioningIndex { $0 >= record.fingerprint }
    var high = low
    if low < fences.count, fences[low] == record.fingerprint {
      high = fences.partitioningIndex { $0 > record.fingerprint }
    }
    while low < high {
      let middle = (low + high) / 2
      let isBelow = try withPage(middle, in: reader) { page, bytes in
        page.count == 0 || page.record(0, in: bytes) < record
      }
      if isBelow { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// What `body` makes of a page and its bytes, which are kept where that is possible.
  private func withPage<Result: Sendable>(
    _ number: Int, in reader: any StorageReader, _ body: (IndexPageLayout, Span<UInt8>) throws -> Result
  ) throws -> Result {
    let kept = try keptPages?.withPage(number) { bytes in
      try body(IndexPageLayout(bytes, of: run, page: number), bytes)
    }
    if let kept { return kept }
    let page = try IndexPage.read(number, of: run, in: reader)
    keptPages?.keep(page.bytes, number: number)
    return try body(IndexPageLayout(page.bytes.span, of: run, page: number), page.bytes.span)
  }

  /// Where the records above `record` begin.
  func successors(of record: IndexRecord, in reader: any StorageReader) throws -> (page: Int, slot: Int) {
    let above = IndexRecord(fingerprint: record.fingerprint, index: record.index + 1)
    guard let (number, slot, _) = try predecessor(of: above, in: reader) else { return (0, 0) }
    return (number, slot + 1)
  }
}

extension [UInt64] {
  /// The first position whose element satisfies the condition, which all after it do.
  @inline(__always)
  func partitioningIndex(_ condition: (UInt64) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
