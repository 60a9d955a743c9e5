// SPDX-License-Identifier: Apache-2.0

/// A run with the parts of it that are held in memory: the fences, the filter and cached pages.
final class ResidentRun: Sendable {
  let run: IndexRun
  let fences: RunFences
  let filter: BlockedFilter?
  /// The cache of pages; `nil` if every lookup must read from the storage.
  private let pageCache: PageCache?
  private let memory: IndexMemory?

  /// Reads and verifies the fences, and also the filter if the kind has one and `withFilter` is `true`. `memory` is for
  /// cached pages of the kinds that every append looks up; without it, no pages are cached.
  init(
    _ run: IndexRun, in reader: any IndexReader, withFilter: Bool = true, memory: IndexMemory? = nil
  ) throws {
    self.run = run
    self.memory = memory
    // Pages of a personal kind change when records are removed, so they are not cached.
    pageCache = run.kind.hasFilter && !run.kind.isPersonal ? memory.map { PageCache(in: $0) } : nil
    fences = try RunFences(of: run, in: reader)
    filter = withFilter && run.filterBlocks > 0 ? try BlockedFilter(of: run, in: reader) : nil
    memory?.take(filter?.byteCount ?? 0)
  }

  deinit { memory?.release(filter?.byteCount ?? 0) }

  func forgetPages() { pageCache?.forgetAll() }

  func mayContain(_ fingerprint: UInt64) -> Bool {
    filter?.content.mayContain(fingerprint, BlockedFilter.bits(of: fingerprint)) ?? true
  }

  /// Passes indices below `before` with the fingerprint and check to `body`, newest first, until `body` returns
  /// `false`. Only the newest page that has any is searched for them.
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

  func pageNumber(of record: IndexRecord, in reader: any IndexReader) throws -> Int? {
    try lastPage(beginningBelow: record.successor, in: reader)
  }

  /// The position of the first record above `record`.
  func start(after record: IndexRecord, in reader: any IndexReader) throws -> (page: Int, slot: Int) {
    guard let number = try pageNumber(of: record, in: reader) else { return (0, 0) }
    var page = try page(number, in: reader)
    return (number, try page.lowerBound(record.successor))
  }

  func last(in reader: any IndexReader) throws -> IndexRecord? {
    guard let number = pageWithRecords(upTo: run.pages - 1) else { return nil }
    var page = try page(number, in: reader)
    return try page.record(page.count - 1)
  }

  /// Reads a page that has records. Unless the page is kept in the cache, only its header is verified.
  func page(_ number: Int, in reader: any IndexReader) throws -> IndexPage {
    if let kept = pageCache?[number] { return kept }
    var page = try IndexPage(number, of: run, fences.digests[number], in: reader)
    try pageCache?.keep(&page, number: number)
    return page
  }

  /// The last page with records whose first record is below `record`.
  private func lastPage(beginningBelow record: IndexRecord, in reader: any IndexReader) throws -> Int? {
    // Pages before `low` begin below the fingerprint, and pages from `high` on begin above it.
    var low = fences.fingerprints.partitioningIndex { $0 >= record.fingerprint }
    var high = low
    if low < fences.fingerprints.count, fences.fingerprints[low] == record.fingerprint {
      high = fences.fingerprints.partitioningIndex { $0 > record.fingerprint }
    }
    while low < high {
      let middle = (low + high) / 2
      var isBelow = true
      // A page without records counts as the one before it.
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
  /// The first position whose element satisfies the condition; all elements after it must satisfy it too.
  @inline(__always)
  package func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension ResidentRun {
  /// Rewrites the pages that contain any of the records, which are in order, and their fences.
  func removing(_ records: [IndexRecord], in writer: any IndexWriter) throws -> IndexRun {
    var run = run
    var removed: [Int: Set<IndexRecord>] = [:]
    for record in records where run.from <= record.index && record.index < run.to {
      guard let number = try pageNumber(of: record, in: writer) else { continue }
      removed[number, default: []].insert(record)
    }
    var fences = fences
    var changed: [Int] = []
    for (number, removed) in removed.sorted(by: { $0.key < $1.key }) {
      var page = try page(number, in: writer)
      let left = try page.records().filter { !removed.contains($0) }
      guard left.count < page.count else { continue }
      run.records -= UInt64(page.count - left.count)
      changed.append(number)
      let place = run.page(number)
      if let first = left.first {
        // The row keeps its length, so that a storage can overwrite the old one in place.
        let (row, digest) = IndexPage.encode(left[...], of: run, byteCount: page.byteCount)
        fences.replace(number, by: (first.fingerprint, digest))
        try writer.put(place.table, place.key, row)
      } else {
        fences.replace(number, by: nil)
        try writer.remove(place.table, in: place.key...place.key)
      }
    }
    if !changed.isEmpty { try fences.rewrite(changed, of: &run, in: writer) }
    return run
  }

}

extension IndexRunProgress {
  /// Removes the records, which are in order, from the output of an unfinished merge.
  mutating func remove(_ records: [IndexRecord], in writer: any IndexWriter) throws {
    guard let last, records.first.map({ $0 <= last }) ?? false else { return }
    run = try ResidentRun(run, in: writer, withFilter: false).removing(records, in: writer)
    guard records.contains(last) else { return }
    // The catalogue must not keep the removed record either. The merge can continue after the record before it,
    // because the inputs no longer have any record between the two.
    self.last = try ResidentRun(run, in: writer, withFilter: false).last(in: writer)
  }
}
