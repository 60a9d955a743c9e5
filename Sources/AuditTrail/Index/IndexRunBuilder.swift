// SPDX-License-Identifier: Apache-2.0

/// How far the rows of a run that is being written have come.
struct IndexRunProgress: Sendable, Hashable {
  var pages = 0
  var records: UInt64 = 0
  /// The filter row that the next record may fall in; those before it are complete.
  var filterRow = 0
  /// The last record written.
  var last: IndexRecord?
}

/// Makes the rows of a run from records in ascending order, all at once or in steps.
struct IndexRunBuilder {
  let run: IndexRun
  private(set) var progress: IndexRunProgress
  private(set) var rows: [(page: Int, bytes: [UInt8])] = []
  /// The first fingerprints of the pages in ``rows``.
  private(set) var fences: [UInt64] = []
  /// The filter's words from ``firstFilterRow`` on, as far as they were touched.
  private var filter: [UInt64] = []
  private let firstFilterRow: Int
  private let firstRecords: UInt64
  private let span: UInt64

  /// Continues where `progress` stands. The run's `from`, `to` and `filterBlocks` are its final ones.
  init(_ run: IndexRun, from progress: IndexRunProgress = IndexRunProgress()) {
    self.run = run
    self.progress = progress
    firstFilterRow = progress.filterRow
    firstRecords = progress.records
    span = IndexPage.span(of: run)
  }

  /// How many of these records, at the start of `records`, make the next page.
  func pageLength(of records: ArraySlice<IndexRecord>) -> Int {
    guard let base = records.first?.fingerprint else { return 0 }
    let limit = min(records.count, IndexPage.recordLimit(run.kind))
    if records[records.startIndex + limit - 1].fingerprint - base < span { return limit }
    var (low, high) = (1, limit)
    while low < high {
      let middle = (low + high + 1) / 2
      if records[records.startIndex + middle - 1].fingerprint - base < span {
        low = middle
      } else {
        high = middle - 1
      }
    }
    return low
  }

  /// Adds one page of `records`, as many as ``pageLength(of:)`` says.
  mutating func addPage(_ records: ArraySlice<IndexRecord>) {
    guard let first = records.first, let last = records.last else { return }
    rows.append(
      (progress.pages, IndexPage.encode(records, of: run, page: progress.pages, base: first.fingerprint)))
    fences.append(first.fingerprint)
    progress.pages += 1
    progress.records += UInt64(records.count)
    progress.last = last
    if run.filterBlocks > 0 { addToFilter(records) }
  }

  private mutating func addToFilter(_ records: ArraySlice<IndexRecord>) {
    let firstBlock = firstFilterRow * indexRowParts
    for record in records {
      let block = BlockedFilter.block(of: record.fingerprint, among: run.filterBlocks) - firstBlock
      let word = block * BlockedFilter.wordsPerBlock
      if word >= filter.count {
        let rows = block / indexRowParts + 1
        let words = rows * indexRowParts * BlockedFilter.wordsPerBlock
        filter += [UInt64](repeating: 0, count: words - filter.count)
        progress.filterRow = firstFilterRow + rows - 1
      }
      var bits = BlockedFilter.bits(of: record.fingerprint)
      for position in word..<word + BlockedFilter.wordsPerBlock {
        filter[position] |= 1 << (bits & 63)
        bits >>= 6
      }
    }
  }

  /// Writes the rows made since the start. With `ending`, also those parts of the filter that nothing fell in.
  func write(in writer: any StorageWriter, ending: Bool) throws {
    for (page, bytes) in rows { try writer.put(.pages, run.page(page).key, bytes) }
    try writeFences(in: writer)
    if run.filterBlocks > 0 { try writeFilter(in: writer, ending: ending) }
  }

  private func writeFences(in writer: any StorageWriter) throws {
    guard !fences.isEmpty else { return }
    let firstPage = progress.pages - fences.count
    var row = firstPage / indexRowParts
    var content: [UInt64] = []
    if firstPage % indexRowParts > 0 {
      content = try IndexRows.words(at: run.fenceRow(row), in: writer)
      guard content.count == firstPage % indexRowParts else {
        throw run.fenceRow(row).corrupt("There are \(content.count) fences where there were \(firstPage).")
      }
    }
    for fence in fences {
      content.append(fence)
      if content.count == indexRowParts {
        try IndexRows.put(content, at: run.fenceRow(row), in: writer)
        row += 1
        content.removeAll(keepingCapacity: true)
      }
    }
    if !content.isEmpty { try IndexRows.put(content, at: run.fenceRow(row), in: writer) }
  }

  private func writeFilter(in writer: any StorageWriter, ending: Bool) throws {
    let rowWords = indexRowParts * BlockedFilter.wordsPerBlock
    let totalRows = (run.filterBlocks + indexRowParts - 1) / indexRowParts
    for row in firstFilterRow..<(ending ? totalRows : progress.filterRow + 1) {
      let blocks = min(indexRowParts, run.filterBlocks - row * indexRowParts)
      let start = (row - firstFilterRow) * rowWords
      var words = Array(filter[min(start, filter.count)..<min(start + rowWords, filter.count)])
      words += [UInt64](repeating: 0, count: rowWords - words.count)
      words.removeLast(rowWords - blocks * BlockedFilter.wordsPerBlock)
      // What an earlier step left of the row that it stopped in.
      if row == firstFilterRow, progress.records > records {
        for (offset, word) in try IndexRows.words(at: run.filterRow(row), in: writer).enumerated()
        where offset < words.count {
          words[offset] |= word
        }
      }
      try IndexRows.put(words, at: run.filterRow(row), in: writer)
    }
  }

  /// The records added since the start.
  private var records: UInt64 { progress.records - firstRecords }
}

/// Rows of the runs' table that hold 64-bit numbers after a checksum.
enum IndexRows {
  static func words(at place: IndexPlace, in reader: any StorageReader) throws -> [UInt64] {
    guard let row = try reader.value(place.table, place.key) else {
      throw place.corrupt("The row is missing.")
    }
    try IndexChecksum.check(row, at: place)
    guard row.count % 8 == 0 else { throw place.corrupt("A row of numbers cannot have \(row.count) bytes.") }
    return (1..<row.count / 8).map { row.span.bigEndianWord(at: 8 * $0) }
  }

  static func put(_ words: [UInt64], at place: IndexPlace, in writer: any StorageWriter) throws {
    try writer.put(place.table, place.key, encode(words, at: place))
  }

  static func encode(_ words: [UInt64], at place: IndexPlace) -> [UInt8] {
    var row: [UInt8] = []
    row.reserveCapacity(8 + 8 * words.count)
    row.append(bigEndian: 0)
    row.append(bigEndian: words)
    IndexChecksum.seal(&row, at: place)
    return row
  }
}
