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

  /// Appends the indices below `before` of records of the fingerprint, newest first: at least one where there is
  /// one, at most `limit`.
  func collect(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, limit: Int, in reader: any StorageReader,
    into found: inout [UInt64]
  ) throws {
    guard before > run.from,
      case (_, let page, var slot)? = try predecessor(
        of: IndexRecord(fingerprint: fingerprint, index: before), in: reader)
    else { return }
    var taken = 0
    while taken < limit, slot >= 0, page[slot].fingerprint == fingerprint {
      if page[slot].check == check {
        found.append(page[slot].index)
        taken += 1
      }
      slot -= 1
    }
  }

  /// Where the record is; `nil` where it is not.
  func find(_ record: IndexRecord, in reader: any StorageReader) throws -> (page: Int, slot: Int)? {
    let above = IndexRecord(fingerprint: record.fingerprint, index: record.index + 1)
    guard let (number, page, slot) = try predecessor(of: above, in: reader), page[slot] == record else {
      return nil
    }
    return (number, slot)
  }

  /// The last record below `record`.
  func predecessor(
    of record: IndexRecord, in reader: any StorageReader
  ) throws -> (number: Int, page: IndexPage, slot: Int)? {
    // Pages before `low` begin below the fingerprint, those from `high` on above it.
    var low = fences.partitioningIndex { $0 >= record.fingerprint }
    var high = low
    if low < fences.count, fences[low] == record.fingerprint {
      high = fences.partitioningIndex { $0 > record.fingerprint }
    }
    var read: (number: Int, page: IndexPage)?
    while low < high {
      let middle = (low + high) / 2
      let page = try page(middle, in: reader)
      // A page that lost all its records is passed over below.
      if page.count == 0 || page[0] < record {
        low = middle + 1
        read = (middle, page)
      } else {
        high = middle
      }
    }
    var number = low - 1
    while number >= 0 {
      let page =
        if let read, read.number == number { read.page } else {
          try page(number, in: reader)
        }
      let slot = page.lowerBound(record)
      if slot > 0 { return (number, page, slot - 1) }
      number -= 1
    }
    return nil
  }

  private func page(_ number: Int, in reader: any StorageReader) throws -> IndexPage {
    if let kept = keptPages?[number] { return try IndexPage(checked: kept, of: run, page: number) }
    let page = try IndexPage.read(number, of: run, in: reader)
    keptPages?.keep(page.bytes, number: number)
    return page
  }

  /// Where the records above `record` begin.
  func successors(of record: IndexRecord, in reader: any StorageReader) throws -> (page: Int, slot: Int) {
    let above = IndexRecord(fingerprint: record.fingerprint, index: record.index + 1)
    guard let (number, _, slot) = try predecessor(of: above, in: reader) else { return (0, 0) }
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
