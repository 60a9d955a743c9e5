// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// Merges runs in the background, so that a lookup asks few of them: eight of a level become one of the next.
///
/// The work goes in steps. Each reads beside the writers and ends in one short write transaction of about 400 KB,
/// between which appends go on. All that is known of a merge is in the catalogue, digests of what it has written
/// included: after a crash at any moment nothing is visible of it but its claim, and another process that claims it
/// after ``claimSeconds`` goes on where it stood. For the same reason no step is synced: what a loss of power takes away
/// is merged again.
package struct IndexMerger {
  /// The time for which a merge that nobody works on stays claimed, in seconds.
  package static let claimSeconds: UInt64 = 600

  static let fanIn = 8
  /// 400 KB of pages: a step keeps appends waiting for as long as it writes, and takes memory for as long as it lasts.
  static let pagesPerStep = 100

  private let storage: any IndexStorage
  private let owner: IndexMergeOwner
  private let seconds: @Sendable () -> UInt64
  private let pagesPerStep: Int
  /// The runs that are being merged, whose fences do not need to be read again at each step.
  private var inputs: [UInt64: ResidentRun] = [:]

  /// Creates a worker with a claim of its own.
  ///
  /// - Parameters:
  ///   - storage: The trail's transactions, which know and seal the root.
  ///   - seconds: Says the time, in seconds since 1970.
  package init(storage: any IndexStorage, seconds: @escaping @Sendable () -> UInt64) {
    self.init(storage: storage, pagesPerStep: Self.pagesPerStep, seconds: seconds)
  }

  init(storage: any IndexStorage, pagesPerStep: Int, seconds: @escaping @Sendable () -> UInt64) {
    let random = Random.bytes(16)
    self.storage = storage
    self.seconds = seconds
    self.pagesPerStep = pagesPerStep
    owner = IndexMergeOwner(high: random.span.bigEndian(at: 0), low: random.span.bigEndian(at: 8))
  }

  /// Does the next piece of work; `false` if nothing is left.
  ///
  /// - Throws: ``IndexError``; what the storage throws. A step that failed can be tried again.
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

  /// Gives up the claims of this worker, for others to go on at once.
  ///
  /// - Throws: ``IndexError``; what the storage throws.
  package mutating func release() throws {
    let owner = owner
    inputs = [:]
    // Most of the time there is nothing to write.
    guard try storage.read({ try IndexCatalogue($1, in: $0) }).merges.contains(where: { $0.owner == owner })
    else { return }
    _ = try change { catalogue, _ in
      for number in catalogue.merges.indices where catalogue.merges[number].owner == owner {
        catalogue.merges[number].time = 0
      }
      return true
    }
  }

  /// Changes the catalogue in one transaction, where `body` says that it is to be.
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
    /// To go on with, by position among the merges.
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
      // The newest levels first: there merges are cheap and spare a lookup as many runs.
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
    _ = try change { catalogue, writer in
      // Somebody else's by now, or read before a record was removed: nothing of it may be written.
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

  private struct Prepared {
    let inputs: [IndexRun]
    let builder: IndexRunBuilder
    let isComplete: Bool
  }

  /// Makes the next pages; `nil` if the merge is another's by now.
  private mutating func prepare(
    _ merge: IndexMerge, _ catalogue: IndexCatalogue, in reader: any IndexReader
  ) throws -> Prepared? {
    guard catalogue.merges.contains(merge) else { return nil }
    let runs = catalogue.inputs(of: merge)
    var cursors: [RunCursor] = []
    for run in runs {
      // The removal of records changes a run.
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
    return Prepared(inputs: runs, builder: builder, isComplete: isExhausted && rest.isEmpty)
  }

  // MARK: - Removing

  private func removeRows(of garbage: IndexGarbage) throws {
    _ = try change { catalogue, writer in
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

  /// Puts the output of a merge in the place of its inputs.
  fileprivate mutating func complete(_ number: Int) {
    let merge = merges.remove(at: number)
    runs.removeAll { merge.inputs.contains($0.number) }
    garbage += merge.inputs.map { IndexGarbage(number: $0, kind: merge.output.kind) }
    add(merge.output)
    version += 1
  }
}
