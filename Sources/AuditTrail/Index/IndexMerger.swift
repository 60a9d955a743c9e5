// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Merges runs in the background, so that a lookup asks few of them: eight of a level become one of the next.
///
/// The work goes in steps. Each reads beside the writers and ends in one short write transaction of about 400 KB,
/// between which appends go on. All that is known of a merge is in the catalogue: after a crash at any moment
/// nothing is visible of it but its claim, and whoever claims it after ``claimSeconds`` goes on where it stood. For the
/// same reason no step is synced: what a loss of power takes away is merged again.
package struct IndexMerger {
  /// How long a merge that nobody works on stays claimed, in seconds.
  package static let claimSeconds: UInt64 = 600

  static let fanIn = 8
  /// 400 KB of pages: a step keeps appends waiting for as long as it writes, and takes memory for as long as it lasts.
  static let pagesPerStep = 100

  private let storage: any TrailStorage
  private let owner: IndexMergeOwner
  private let seconds: () -> UInt64
  private let pagesPerStep: Int
  /// The runs that are being merged, whose fences do not need to be read again at each step.
  private var inputs: [UInt64: ResidentRun] = [:]
  /// What ``inputs`` were read after: the removal of a page's first record changes its fence.
  private var removals: UInt64 = 0

  /// Creates a worker with a claim of its own.
  ///
  /// - Parameters:
  ///   - storage: The trail's storage.
  ///   - seconds: Says the time, in seconds since 1970.
  package init(storage: any TrailStorage, seconds: @escaping () -> UInt64) {
    self.init(storage: storage, pagesPerStep: Self.pagesPerStep, seconds: seconds)
  }

  init(storage: any TrailStorage, pagesPerStep: Int, seconds: @escaping () -> UInt64) {
    let random = Random.bytes(16)
    self.storage = storage
    self.seconds = seconds
    self.pagesPerStep = pagesPerStep
    owner = IndexMergeOwner(high: random.span.bigEndianWord(at: 0), low: random.span.bigEndianWord(at: 8))
  }

  /// Does the next piece of work; `false` where there is none.
  ///
  /// - Throws: ``StorageError``. A step that failed can be tried again.
  package mutating func step() throws -> Bool {
    let catalogue = try storage.read { try IndexCatalogue.read(in: $0) }
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
  /// - Throws: ``StorageError``.
  package mutating func release() throws {
    let owner = owner
    try storage.writeUnsynchronized { writer in
      var catalogue = try IndexCatalogue.read(in: writer)
      guard catalogue.merges.contains(where: { $0.owner == owner }) else { return }
      for number in catalogue.merges.indices where catalogue.merges[number].owner == owner {
        catalogue.merges[number].time = 0
      }
      try catalogue.write(in: writer)
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
    return try storage.writeUnsynchronized { writer in
      var catalogue = try IndexCatalogue.read(in: writer)
      switch claimable(catalogue, at: now) {
      case nil: return false
      case .abandoned(let number):
        catalogue.merges[number].owner = owner
        catalogue.merges[number].time = now
      case .new(let runs):
        guard let first = runs.first, let last = runs.last, catalogue.nextRun < IndexRun.numberLimit else {
          return false
        }
        let records = runs.reduce(0 as UInt64) { $0 &+ $1.records }
        let blocks = first.kind.hasFilter ? BlockedFilter.blockCount(records: records) : 0
        let output = IndexRun(
          number: catalogue.nextRun, kind: first.kind, level: first.level &+ 1, from: first.from, to: last.to,
          records: records, pages: 0, filterBlocks: blocks)
        catalogue.nextRun += 1
        catalogue.merges.append(
          IndexMerge(output: output, inputs: runs.map(\.number), owner: owner, time: now))
      }
      try catalogue.write(in: writer)
      return true
    }
  }

  // MARK: - Merging

  private mutating func proceed(with merge: IndexMerge) throws {
    let (removals, builder, isComplete) = try storage.read { try prepare(merge, in: $0) }
    let now = seconds()
    try storage.writeUnsynchronized { writer in
      var catalogue = try IndexCatalogue.read(in: writer)
      // Somebody else's by now, or read before a record was removed: nothing of it may be written.
      guard let number = catalogue.merges.firstIndex(of: merge), catalogue.removals == removals else {
        return
      }
      try builder.write(in: writer, ending: isComplete)
      catalogue.merges[number].progress = builder.progress
      catalogue.merges[number].time = now
      if isComplete { catalogue.complete(number) }
      try catalogue.write(in: writer)
    }
  }

  /// Makes the next pages; whether they are the last.
  private mutating func prepare(
    _ merge: IndexMerge, in reader: any StorageReader
  ) throws -> (removals: UInt64, IndexRunBuilder, isComplete: Bool) {
    let catalogue = try IndexCatalogue.read(in: reader)
    var builder = IndexRunBuilder(merge.output, from: merge.progress)
    guard catalogue.merges.contains(merge) else { return (.max, builder, false) }
    if catalogue.removals != removals { (inputs, removals) = ([:], catalogue.removals) }
    var cursors: [RunCursor] = []
    for run in catalogue.runs where merge.inputs.contains(run.number) {
      let resident = try inputs[run.number] ?? ResidentRun(run, in: reader, withFilter: false)
      inputs[run.number] = resident
      guard let last = merge.progress.last else {
        cursors.append(RunCursor(resident))
        continue
      }
      let start = try resident.successors(of: last, in: reader)
      cursors.append(RunCursor(resident, page: start.page, slot: start.slot))
    }
    var source = try RunMerge(cursors, in: reader) {
      throw StorageError(.corrupt, at: "index", $0.description)
    }
    var records: [IndexRecord] = []
    let limit = pagesPerStep * IndexPage.recordLimit
    records.reserveCapacity(limit)
    while records.count < limit, let record = try source.next(in: reader) { records.append(record) }
    let isExhausted = records.count < limit

    var rest = records[...]
    while !rest.isEmpty, builder.progress.pages - merge.progress.pages < pagesPerStep {
      guard builder.progress.pages < IndexRun.partLimit - 1 else {
        throw merge.output.page(builder.progress.pages).corrupt("A run cannot have more pages.")
      }
      let length = builder.pageLength(of: rest)
      builder.addPage(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return (catalogue.removals, builder, isExhausted && rest.isEmpty)
  }

  // MARK: - Removing

  private func removeRows(of garbage: IndexGarbage) throws {
    try storage.writeUnsynchronized { writer in
      var catalogue = try IndexCatalogue.read(in: writer)
      guard let place = catalogue.garbage.firstIndex(of: garbage) else { return }
      let keys = IndexRun.keys(garbage.number)
      if let last = try writer.lastKey(.pages, in: keys) {
        let first = max(keys.lowerBound, last - Int64(pagesPerStep) + 1)
        try writer.remove(.pages, in: first...last, erasing: garbage.kind.isPersonal)
        if first > keys.lowerBound { return }
      }
      try writer.remove(.runs, in: keys, erasing: garbage.kind.isPersonal)
      catalogue.garbage.remove(at: place)
      try catalogue.write(in: writer)
    }
  }
}

extension IndexCatalogue {
  /// Puts the output of a merge in the place of its inputs.
  fileprivate mutating func complete(_ number: Int) {
    let merge = merges.remove(at: number)
    runs.removeAll { merge.inputs.contains($0.number) }
    garbage += merge.inputs.map { IndexGarbage(number: $0, kind: merge.output.kind) }
    var output = merge.output
    output.pages = merge.progress.pages
    output.records = merge.progress.records
    add(output)
    version += 1
  }
}
