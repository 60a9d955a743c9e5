// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// Merges runs in the background: eight of a level become one of the next, so that a lookup searches few runs.
///
/// The work is done in steps. Each step reads concurrently with the writers and ends in one short write transaction
/// of about 400 KB, so that appends can proceed between steps. The catalogue records the complete state of a merge,
/// including digests of the rows written so far. After a crash, nothing but the claim is visible, and another process
/// that claims the merge after ``claimSeconds`` continues it. Steps are not synced for the same reason: work that is
/// lost in a power failure is done again.
package struct IndexMerger {
  /// The time after which a merge without progress can be claimed by another worker, in seconds.
  package static let claimSeconds: UInt64 = 600

  static let fanIn = 8
  /// 400 KB of pages. A step blocks appends while it writes, and holds its pages in memory until it ends.
  package static let pagesPerStep = 100

  private let storage: any IndexStorage
  private let owner: IndexMergeOwner
  private let seconds: @Sendable () -> UInt64
  private let pagesPerStep: Int
  /// The runs that are being merged, kept so that each step need not read their fences again.
  private var inputs: [UInt64: ResidentRun] = [:]

  /// Creates a worker with its own identity. The storage's transactions know the root and authenticate it. `seconds`
  /// returns the current time, in seconds since 1970.
  package init(
    storage: any IndexStorage, pagesPerStep: Int = IndexMerger.pagesPerStep,
    seconds: @escaping @Sendable () -> UInt64
  ) {
    let random = Random.bytes(16)
    self.storage = storage
    self.seconds = seconds
    self.pagesPerStep = pagesPerStep
    owner = IndexMergeOwner(high: random.span.bigEndian(at: 0), low: random.span.bigEndian(at: 8))
  }

  /// Performs the next step; `false` if there is nothing to do. Throws ``IndexError``; any error from the storage. A
  /// step that failed can be retried.
  package mutating func step() throws -> Bool {
    let catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    if let garbage = catalogue.garbage.first {
      inputs[garbage.number] = nil
      try removeRows(of: garbage)
      return true
    }
    if let merge = catalogue.merges.first(where: { $0.owner == owner }) {
      try proceed(with: merge)
      return true
    }
    inputs = [:]
    guard claimable(catalogue, at: seconds()) != nil else { return false }
    return try claim()
  }

  /// Gives up the claims of this worker, so that others can continue immediately.
  package mutating func release() throws {
    let owner = owner
    inputs = [:]
    // Usually there is nothing to write.
    guard try storage.read({ try IndexCatalogue($1, in: $0) }).merges.contains(where: { $0.owner == owner })
    else { return }
    try change { catalogue, _ in
      for number in catalogue.merges.indices where catalogue.merges[number].owner == owner {
        catalogue.merges[number].time = 0
      }
      return true
    }
  }

  /// Changes the catalogue in one transaction, if `body` returns `true`.
  @discardableResult
  private func change(_ body: (inout IndexCatalogue, any IndexWriter) throws -> Bool) throws -> Bool {
    try storage.write { writer, root in
      let stored = try IndexCatalogue(root, in: writer)
      var catalogue = stored
      guard try body(&catalogue, writer) else { return false }
      if catalogue != stored { root = try catalogue.write(in: writer) }
      return true
    }
  }

  // MARK: - Claims

  private enum Claim {
    /// A merge to continue, by its index in the catalogue's merges.
    case abandoned(Int)
    case new([IndexRun])
  }

  private func claimable(_ catalogue: IndexCatalogue, at now: UInt64) -> Claim? {
    // A claim from the future is one by a clock that went wrong.
    if let number = catalogue.merges.firstIndex(where: {
      $0.time > now &+ Self.claimSeconds || now - min($0.time, now) >= Self.claimSeconds
    }) {
      return .abandoned(number)
    }
    let claimed = Set(catalogue.merges.flatMap(\.inputs))
    var choice: ArraySlice<IndexRun>?
    for kind in IndexKind.allCases {
      let free = catalogue.runs(of: kind)
      // Lower levels are preferred: their merges are cheap and save a lookup as many runs.
      var start = free.startIndex
      while start < free.endIndex {
        let level = free[start].level
        let end =
          free[start...].firstIndex { $0.level != level || claimed.contains($0.number) } ?? free.endIndex
        if end - start >= Self.fanIn, choice.map({ level < $0[$0.startIndex].level }) ?? true {
          choice = free[start..<start + Self.fanIn]
        }
        start = max(end, start + 1)
      }
    }
    return choice.map { .new(Array($0)) }
  }

  private func claim() throws -> Bool {
    let now = seconds()
    return try change { catalogue, _ in
      switch claimable(catalogue, at: now) {
      case nil: return false
      case .abandoned(let number):
        catalogue.merges[number].owner = owner
        catalogue.merges[number].time = now
      case .new(let runs):
        guard let first = runs.first, let last = runs.last else { return false }
        let records = runs.reduce(0 as UInt64) { $0 + $1.records }
        let output = IndexRun(
          number: try catalogue.takeNumber(), kind: first.kind, level: first.level &+ 1, from: first.from,
          to: last.to, filterBlocks: first.kind.hasFilter ? BlockedFilter.blockCount(records: records) : 0)
        catalogue.merges.append(
          IndexMerge(
            inputs: runs.map(\.number), owner: owner, time: now, progress: IndexRunProgress(run: output)))
      }
      return true
    }
  }

  // MARK: - Merging

  private mutating func proceed(with merge: IndexMerge) throws {
    guard let prepared = try storage.read({ try prepare(merge, IndexCatalogue($1, in: $0), in: $0) }) else {
      return
    }
    let now = seconds()
    try change { catalogue, writer in
      // Nothing may be written if another worker has claimed the merge, or if a record was removed after the inputs
      // were read.
      guard let number = catalogue.merges.firstIndex(of: merge),
        catalogue.inputs(of: merge) == prepared.inputs
      else { return false }
      var builder = prepared.builder
      try builder.write(in: writer, ending: prepared.isComplete)
      catalogue.merges[number].progress = builder.progress
      catalogue.merges[number].time = now
      if prepared.isComplete { catalogue.complete(number) }
      return true
    }
  }

  private typealias Prepared = (inputs: [IndexRun], builder: IndexRunBuilder, isComplete: Bool)

  /// Builds the next pages; `nil` if another worker has claimed the merge.
  private mutating func prepare(
    _ merge: IndexMerge, _ catalogue: IndexCatalogue, in reader: any IndexReader
  ) throws -> Prepared? {
    guard catalogue.merges.contains(merge) else { return nil }
    let runs = catalogue.inputs(of: merge)
    var cursors: [RunCursor] = []
    for run in runs {
      // A run changes when records are removed from it.
      if inputs[run.number]?.run != run {
        inputs[run.number] = try ResidentRun(run, in: reader, withFilter: false)
      }
      guard let resident = inputs[run.number] else { continue }
      cursors.append(
        RunCursor(
          resident, from: try merge.progress.last.map { try resident.start(after: $0, in: reader) } ?? (0, 0))
      )
    }
    var source = try RunMerge(cursors, in: reader) { throw $0 }
    var records: [IndexRecord] = []
    let limit = pagesPerStep * IndexPage.recordLimit(merge.output.kind)
    records.reserveCapacity(limit)
    while records.count < limit, let record = try source.next(in: reader) { records.append(record) }
    let isExhausted = records.count < limit
    var rest = records[...]
    var builder = IndexRunBuilder(from: merge.progress)
    try builder.addPages(of: &rest, limit: pagesPerStep)
    return (runs, builder, isExhausted && rest.isEmpty)
  }

  private func removeRows(of garbage: IndexGarbage) throws {
    try change { catalogue, writer in
      guard let place = catalogue.garbage.firstIndex(of: garbage) else { return false }
      let keys = IndexRun.keys(garbage.number)
      let table = garbage.kind.pageTable
      if let last = try writer.lastKey(table, in: keys) {
        let first = max(keys.lowerBound, last - Int64(pagesPerStep) + 1)
        try writer.remove(table, in: first...last)
        if first > keys.lowerBound { return true }
      }
      try writer.remove(.runs, in: keys)
      catalogue.garbage.remove(at: place)
      return true
    }
  }
}

extension IndexCatalogue {
  /// The runs that a merge replaces, oldest entries first.
  fileprivate func inputs(of merge: IndexMerge) -> [IndexRun] {
    runs.filter { merge.inputs.contains($0.number) }
  }

  fileprivate mutating func complete(_ number: Int) {
    let merge = merges.remove(at: number)
    runs.removeAll { merge.inputs.contains($0.number) }
    garbage += merge.inputs.map { IndexGarbage(number: $0, kind: merge.output.kind) }
    add(merge.output)
    version += 1
  }
}
