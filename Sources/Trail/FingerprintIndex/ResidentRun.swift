// SPDX-License-Identifier: Apache-2.0

/// A run with what is held of it in memory: the fences, the filter, and pages that were read.
final class ResidentRun: Sendable {
  let run: IndexRun
  let fences: RunFences
  let filter: BlockedFilter?
  /// `nil` if every lookup is to read what is stored.
  private let pageCache: PageCache?
  private let memory: IndexMemory?

  /// Reads and verifies the fences, and the filter where the kind has one and `withFilter` asks for it.
  ///
  /// - Parameters:
  ///   - run: The run, as the catalogue has it.
  ///   - reader: Where it is.
  ///   - withFilter: Whether the filter is loaded.
  ///   - memory: What pages are kept in, of the kinds that every append asks for; without it none are kept.
  /// - Throws: ``IndexError``; what the storage throws.
  init(
    _ run: IndexRun, in reader: any IndexReader, withFilter: Bool = true, memory: IndexMemory? = nil
  ) throws {
    self.run = run
    self.memory = memory
    // Pages of a personal kind change when records are removed.
    pageCache = run.kind.hasFilter && !run.kind.isPersonal ? memory.map { PageCache(in: $0) } : nil
    fences = try RunFences(of: run, in: reader)
    filter = withFilter && run.filterBlocks > 0 ? try BlockedFilter(of: run, in: reader) : nil
    memory?.take(filter?.byteCount ?? 0)
  }

  deinit { memory?.release(filter?.byteCount ?? 0) }

  /// Gives the memory of pages back.
  func forgetPages() { pageCache?.forgetAll() }

  /// Indicates whether the run may have records of the fingerprint.
  func mayContain(_ fingerprint: UInt64) -> Bool {
    filter?.content.mayContain(fingerprint, BlockedFilter.bits(of: fingerprint)) ?? true
  }

  /// Hands over the indices below `before` of records of the fingerprint in one page, newest first, until `body` says
  /// that it needs no more: those in the newest page that has any.
  func forEach(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any IndexReader,
    _ body: (UInt64) -> Bool
  ) throws {
    guard before > run.from else { return }
    let sought = IndexRecord(fingerprint: fingerprint, index: before)
    var next = try lastPage(beginningBelow: sought, in: reader)
    while let number = next {
      var page = try page(number, in: reader)
      var isFound = false
      for slot in stride(from: try page.lowerBound(sought) - 1, through: 0, by: -1) {
        let record = try page.record(slot)
        guard record.fingerprint == fingerprint else { return }
        guard record.check == check else { continue }
        isFound = true
        guard body(record.index) else { return }
      }
      if isFound { return }
      next = pageWithRecords(upTo: number - 1)
    }
  }

  /// The page that has the record, if any has.
  func pageNumber(of record: IndexRecord, in reader: any IndexReader) throws -> Int? {
    try lastPage(beginningBelow: record.successor, in: reader)
  }

  /// The position of the first record above `record`.
  func start(after record: IndexRecord, in reader: any IndexReader) throws -> (page: Int, slot: Int) {
    guard let number = try pageNumber(of: record, in: reader) else { return (0, 0) }
    var page = try page(number, in: reader)
    return (number, try page.lowerBound(record.successor))
  }

  /// The last record.
  func last(in reader: any IndexReader) throws -> IndexRecord? {
    guard let number = pageWithRecords(upTo: run.pages - 1) else { return nil }
    var page = try page(number, in: reader)
    return try page.record(page.count - 1)
  }

  /// A page that has records; only its header is verified where it is not kept.
  func page(_ number: Int, in reader: any IndexReader) throws -> IndexPage {
    if let kept = pageCache?[number] { return kept }
    var page = try IndexPage(number, of: run, fences.digests[number], in: reader)
    try pageCache?.keep(&page, number: number)
    return page
  }

  /// The last page with records whose first is below `record`.
  private func lastPage(beginningBelow record: IndexRecord, in reader: any IndexReader) throws -> Int? {
    // Pages before `low` begin below the fingerprint, those from `high` on above it.
    var low = fences.fingerprints.partitioningIndex { $0 >= record.fingerprint }
    var high = low
    if low < fences.fingerprints.count, fences.fingerprints[low] == record.fingerprint {
      high = fences.fingerprints.partitioningIndex { $0 > record.fingerprint }
    }
    while low < high {
      let middle = (low + high) / 2
      var isBelow = true
      // A page without records is where the one before it is.
      if let number = pageWithRecords(upTo: middle), number >= low {
        var page = try page(number, in: reader)
        isBelow = try page.record(0) < record
      }
      if isBelow { low = middle + 1 } else { high = middle }
    }
    return pageWithRecords(upTo: low - 1)
  }

  private func pageWithRecords(upTo number: Int) -> Int? {
    var number = number
    while number >= 0, fences.isEmpty(number) { number -= 1 }
    return number < 0 ? nil : number
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first position whose element satisfies the condition, which all after it do.
  @inline(__always)
  func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
