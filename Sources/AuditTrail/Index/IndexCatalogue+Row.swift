// SPDX-License-Identifier: Apache-2.0

// The catalogue's row: 64-bit words after a checksum. A magic number, the version, the indexed size, the next run,
// the removals, how many runs, merges and runs to remove there are, and those.
extension IndexCatalogue {
  /// "RKINDEX1"
  static let magic: UInt64 = 0x524b_494e_4445_5831

  var words: [UInt64] {
    var words = [Self.magic, version, indexedSize, nextRun, removals]
    words += [UInt64(runs.count), UInt64(merges.count), UInt64(garbage.count)]
    for run in runs { words += run.words }
    for merge in merges {
      words += merge.output.words + [merge.owner.high, merge.owner.low, merge.time]
      words += [UInt64(merge.progress.pages), merge.progress.records, UInt64(merge.progress.filterRow)]
      words += [merge.progress.last?.fingerprint ?? .max, merge.progress.last?.index ?? 0]
      words += [UInt64(merge.inputs.count)] + merge.inputs
    }
    return words + garbage.map { $0.number << 8 | UInt64($0.kind.rawValue) }
  }

  /// - Throws: ``StorageError/Code/corrupt`` where the words are not a catalogue's.
  init(_ words: [UInt64]) throws(StorageError) {
    var words = IndexWords(words[...])
    guard try words.next() == Self.magic else {
      throw IndexPlace.catalogue.corrupt("This is not the catalogue of an index of this format.")
    }
    version = try words.next()
    indexedSize = try words.next()
    nextRun = try words.next()
    removals = try words.next()
    let (runCount, mergeCount, garbageCount) = (try words.count(), try words.count(), try words.count())
    for _ in 0..<runCount { runs.append(try words.run()) }
    for _ in 0..<mergeCount { merges.append(try words.merge()) }
    for _ in 0..<garbageCount { garbage.append(try words.garbage()) }
    guard words.isAtEnd else { throw IndexPlace.catalogue.corrupt("There is more than runs and merges.") }
    try check()
  }

  private func check() throws(StorageError) {
    func demand(_ condition: Bool, _ message: String) throws(StorageError) {
      guard condition else { throw IndexPlace.catalogue.corrupt(message) }
    }
    try demand(nextRun > 0 && nextRun <= IndexRun.numberLimit, "The next run cannot be \(nextRun).")
    try demand(version < 1 << 62 && removals < 1 << 62, "The catalogue cannot have changed that often.")
    try demand(indexedSize <= IndexRun.sizeLimit, "The index cannot cover \(indexedSize) entries.")
    var numbers = Set<UInt64>()
    for number in runs.map(\.number) + merges.map(\.output.number) + garbage.map(\.number) {
      try demand(number > 0 && number < nextRun, "There can be no run \(number) yet.")
      try demand(numbers.insert(number).inserted, "Run \(number) is listed twice.")
    }
    for run in runs + merges.map(\.output) {
      try demand(
        run.from < run.to && run.to <= indexedSize, "Run \(run.number) covers \(run.from)..<\(run.to).")
      try demand(run.records <= IndexRun.recordLimit, "Run \(run.number) cannot have \(run.records) records.")
    }
    for (run, next) in zip(runs, runs.dropFirst()) {
      try demand(
        run.kind.rawValue < next.kind.rawValue || (run.kind == next.kind && run.to <= next.from),
        "Runs \(run.number) and \(next.number) are not in order.")
    }
    var merged = Set<UInt64>()
    for merge in merges {
      let (last, blocks) = (merge.progress.last?.fingerprint, merge.output.filterBlocks)
      let row = last.map { BlockedFilter.block(of: $0, among: blocks) / indexRowParts } ?? 0
      try demand(merge.progress.filterRow == row, "Merge \(merge.output.number) has another filter row.")
      let inputs = runs.filter { merge.inputs.contains($0.number) }
      try demand(
        !inputs.isEmpty && inputs.map(\.number) == merge.inputs
          && inputs.allSatisfy { $0.kind == merge.output.kind }
          && inputs.first?.from == merge.output.from && inputs.last?.to == merge.output.to,
        "Merge \(merge.output.number) is not of consecutive runs of its kind.")
      for input in merge.inputs {
        try demand(merged.insert(input).inserted, "Run \(input) is merged twice.")
      }
    }
  }
}

extension IndexRun {
  fileprivate var words: [UInt64] {
    [
      number, UInt64(kind.rawValue) << 8 | UInt64(level), from, to, records, UInt64(pages),
      UInt64(filterBlocks),
    ]
  }
}

private struct IndexWords {
  private var rest: ArraySlice<UInt64>

  init(_ words: ArraySlice<UInt64>) { rest = words }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func next() throws(StorageError) -> UInt64 {
    guard let word = rest.popFirst() else {
      throw IndexPlace.catalogue.corrupt("The catalogue ends too soon.")
    }
    return word
  }

  /// A number of things that follow, each of at least a word.
  mutating func count() throws(StorageError) -> Int { try number(below: rest.count + 1) }

  mutating func number(below limit: Int) throws(StorageError) -> Int {
    let word = try next()
    guard let number = Int(exactly: word), number < limit else {
      throw IndexPlace.catalogue.corrupt("The number \(word) is not below \(limit).")
    }
    return number
  }

  mutating func run() throws(StorageError) -> IndexRun {
    let number = try next()
    let sort = try next()
    guard sort < 1 << 16, let kind = IndexKind(rawValue: UInt8(sort >> 8)) else {
      throw IndexPlace.catalogue.corrupt("There is no kind of run \(sort).")
    }
    return IndexRun(
      number: number, kind: kind, level: UInt8(truncatingIfNeeded: sort), from: try next(), to: try next(),
      records: try next(), pages: try self.number(below: IndexRun.partLimit),
      filterBlocks: try self.number(below: IndexRun.partLimit * indexRowParts))
  }

  mutating func garbage() throws(StorageError) -> IndexGarbage {
    let word = try next()
    guard let kind = IndexKind(rawValue: UInt8(truncatingIfNeeded: word)) else {
      throw IndexPlace.catalogue.corrupt("There is no kind of run to remove in \(word).")
    }
    return IndexGarbage(number: word >> 8, kind: kind)
  }

  mutating func merge() throws(StorageError) -> IndexMerge {
    let output = try run()
    let owner = IndexMergeOwner(high: try next(), low: try next())
    let time = try next()
    var progress = IndexRunProgress()
    progress.pages = try number(below: IndexRun.partLimit)
    progress.records = try next()
    progress.filterRow = try number(below: IndexRun.partLimit)
    let (fingerprint, index) = (try next(), try next())
    if fingerprint <= IndexRecord.fingerprintMask, index < output.to {
      progress.last = IndexRecord(fingerprint: fingerprint, index: index)
    }
    guard (progress.last != nil) == (progress.pages > 0) else {
      throw IndexPlace.catalogue.corrupt(
        "Merge \(output.number) has pages without a last record or the reverse.")
    }
    var inputs: [UInt64] = []
    for _ in 0..<(try count()) { inputs.append(try next()) }
    return IndexMerge(output: output, inputs: inputs, owner: owner, time: time, progress: progress)
  }
}
