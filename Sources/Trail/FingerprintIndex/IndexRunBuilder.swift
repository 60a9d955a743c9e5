// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// Builds the rows of a run from records in ascending order, all at once or in steps.
struct IndexRunBuilder {
  private(set) var progress: IndexRunProgress
  /// The rows of the pages added since the start.
  private var rows: [[UInt8]] = []
  private var fences = RunFences()
  /// The filter's words from the row `start.filterRow` on, up to the last row in which a record falls.
  private var filter: [UInt64] = []
  private let start: IndexRunProgress
  private let span: UInt64

  private static let wordsPerRow = IndexRun.blocksPerRow * BlockedFilter.wordsPerBlock

  init(from progress: IndexRunProgress) {
    self.progress = progress
    start = progress
    span = IndexPage.span(of: progress.run)
  }

  /// Adds at most `limit` pages, and removes their records from the front of `records`. Throws
  /// ``IndexError/Code/outOfRoom`` if the run would have too many pages.
  mutating func addPages(of records: inout ArraySlice<IndexRecord>, limit: Int = .max) throws(IndexError) {
    while rows.count < limit, let first = records.first {
      guard progress.run.pages < IndexRun.partLimit - 1 else {
        throw IndexError(.outOfRoom, "A run cannot have more pages. Move the trail into a new storage.")
      }
      let page = records.prefix(IndexPage.recordLimit(progress.run.kind))
      let end = page.partitioningIndex { $0.fingerprint - first.fingerprint >= span }
      add(page[..<end])
      records = records[end...]
    }
  }

  private mutating func add(_ records: ArraySlice<IndexRecord>) {
    let page = IndexPage.encode(records, of: progress.run)
    rows.append(page.row)
    fences.append(records.first?.fingerprint ?? 0, page.digest)
    progress.run.pages += 1
    progress.run.records += UInt64(records.count)
    progress.last = records.last
    if progress.run.filterBlocks > 0 { addToFilter(records) }
  }

  private mutating func addToFilter(_ records: ArraySlice<IndexRecord>) {
    let firstBlock = start.filterRow * IndexRun.blocksPerRow
    for record in records {
      let block = BlockedFilter.block(of: record.fingerprint, among: progress.run.filterBlocks) - firstBlock
      let word = block * BlockedFilter.wordsPerBlock
      if word >= filter.count {
        let rows = block / IndexRun.blocksPerRow + 1
        filter += [UInt64](repeating: 0, count: rows * Self.wordsPerRow - filter.count)
        progress.filterRow = start.filterRow + rows - 1
      }
      var bits = BlockedFilter.bits(of: record.fingerprint)
      for position in word..<word + BlockedFilter.wordsPerBlock {
        filter[position] |= 1 << (bits & 63)
        bits >>= 6
      }
    }
  }

  /// Writes the rows made since the start. If `ending`, also writes the filter rows in which no record falls. Throws
  /// ``IndexError/Code/corrupt`` if the filter row of an earlier step is not the one that was written; any error from
  /// the storage.
  mutating func write(in writer: any IndexWriter, ending: Bool) throws {
    for (number, row) in rows.enumerated() {
      let place = progress.run.page(start.run.pages + number)
      try writer.put(place.table, place.key, row)
    }
    try fences.append(to: &progress.run, in: writer)
    // The row after the last one in which a record falls.
    let end = filter.isEmpty ? start.filterRow : progress.filterRow + 1
    for number in start.filterRow..<(ending ? progress.run.filterRows : end) {
      let place = progress.run.filterRow(number)
      let row = try filterRow(number, at: place, in: writer)
      try writer.put(place.table, place.key, row)
      if ending || number < progress.filterRow {
        progress.run.filterDigest.chain(row)
      } else {
        progress.filterPart = SHA256Digest(of: row.span)
      }
    }
  }

  private func filterRow(_ number: Int, at place: IndexPlace, in reader: any IndexReader) throws -> [UInt8] {
    let blocks = min(IndexRun.blocksPerRow, progress.run.filterBlocks - number * IndexRun.blocksPerRow)
    let first = (number - start.filterRow) * Self.wordsPerRow
    let words = filter[min(first, filter.count)..<min(first + Self.wordsPerRow, filter.count)]
    var earlier: [UInt8] = []
    // The part of the row that an earlier step wrote before it stopped.
    if number == start.filterRow, start.filterPart != .zero {
      earlier = try place.row(in: reader)
      guard SHA256Digest(of: earlier.span) == start.filterPart else {
        throw place.corrupt("The row is not the one that the merge wrote. Restore the trail from a backup.")
      }
    }
    var row: [UInt8] = []
    row.reserveCapacity(64 * blocks)
    for offset in 0..<blocks * BlockedFilter.wordsPerBlock {
      let word = offset < words.count ? words[words.startIndex + offset] : 0
      row.append(bigEndian: earlier.isEmpty ? word : word | earlier.span.bigEndian(at: 8 * offset))
    }
    return row
  }
}
