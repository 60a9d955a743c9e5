// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

extension IndexCatalogue {
  /// The runs of a kind, oldest entries first.
  func runs(of kind: IndexKind) -> ArraySlice<IndexRun> {
    let first = runs.firstIndex { $0.kind.rawValue >= kind.rawValue } ?? runs.endIndex
    let end = runs[first...].firstIndex { $0.kind != kind } ?? runs.endIndex
    return runs[first..<end]
  }

  func recordCount(_ kind: IndexKind) -> UInt64 { runs(of: kind).reduce(0) { $0 + $1.records } }

  mutating func add(_ run: IndexRun) {
    let place =
      runs.firstIndex { ($0.kind.rawValue, $0.from) > (run.kind.rawValue, run.from) } ?? runs.endIndex
    runs.insert(run, at: place)
  }

  /// Writes the records of the entries from ``indexedSize`` to `size` as one run per kind.
  mutating func addRuns(of memtable: Memtable, upTo size: UInt64, in writer: any IndexWriter) throws {
    guard size <= IndexRun.sizeLimit else {
      throw IndexError(.outOfRoom, "The index cannot cover \(size) entries.")
    }
    let from = indexedSize
    version += 1
    indexedSize = size
    for kind in IndexKind.allCases {
      var records = memtable.records(kind, in: from..<size).sortedByFingerprint()[...]
      guard !records.isEmpty else { continue }
      let blocks = kind.hasFilter ? BlockedFilter.blockCount(records: UInt64(records.count)) : 0
      let run = IndexRun(
        number: try takeNumber(), kind: kind, level: 0, from: from, to: size, filterBlocks: blocks)
      var builder = IndexRunBuilder(from: IndexRunProgress(run: run))
      try builder.addPages(of: &records)
      try builder.write(in: writer, ending: true)
      add(builder.progress.run)
    }
  }

  /// The key ranges that the catalogue, its runs, unfinished merges and pending removals do not use. They must have
  /// no rows.
  func unusedKeys(isStored: Bool) -> [(table: IndexTable, keys: ClosedRange<Int64>)] {
    var used: [IndexTable: [ClosedRange<Int64>]] = isStored ? [.runs: [0...0]] : [:]
    for number in garbage.map(\.number) + merges.map(\.output.number) {
      for table in IndexTable.allCases { used[table, default: []].append(IndexRun.keys(number)) }
    }
    for (table, keys) in runs.flatMap(\.rows) { used[table, default: []].append(keys) }
    var unused: [(IndexTable, ClosedRange<Int64>)] = []
    for table in IndexTable.allCases {
      var next = Int64.min
      for keys in (used[table] ?? []).sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if next < keys.lowerBound { unused.append((table, next...keys.lowerBound - 1)) }
        next = keys.upperBound + 1
      }
      unused.append((table, next...Int64.max))
    }
    return unused
  }

  /// Everything to remove once this catalogue has been replaced.
  var withoutUse: [IndexGarbage] {
    (runs + merges.map(\.output)).map { IndexGarbage(number: $0.number, kind: $0.kind) } + garbage
  }

  /// Takes the number of a new run. Throws ``IndexError/Code/outOfRoom`` if there are no more run numbers.
  mutating func takeNumber() throws(IndexError) -> UInt64 {
    guard nextRun < IndexRun.numberLimit else {
      throw IndexError(.outOfRoom, "There are no more run numbers. Move the trail into a new storage.")
    }
    defer { nextRun += 1 }
    return nextRun
  }
}

extension IndexMerge {
  var output: IndexRun { progress.run }
}

// The catalogue's row consists of big-endian 64-bit words: a magic number, the version, the indexed size, the number
// of the next run, the counts of runs, merges and garbage runs, and then the runs, merges and garbage runs.
extension IndexCatalogue {
  /// "RKINDEX2"
  static let magic: UInt64 = 0x524b_494e_4445_5832

  /// Reads the catalogue with this root. Throws ``IndexError/Code/corrupt`` if a different catalogue is stored; any
  /// error from the storage.
  init(_ root: IndexRoot, in reader: any IndexReader) throws {
    self.init()
    guard root != .zero else { return }
    let row = try IndexPlace.catalogue.row(in: reader)
    guard SHA256Digest(of: row.span) == root else {
      throw IndexPlace.catalogue.corrupt(
        "The catalogue is not the one that the trail vouches for. Restore the trail from a backup.")
    }
    var words = IndexWords(row)
    guard try words.next() == Self.magic else {
      throw IndexError(.unsupported, at: "index catalogue", "The index is of another format.")
    }
    version = try words.next()
    indexedSize = try words.next()
    nextRun = try words.next()
    let (runCount, mergeCount, garbageCount) = (try words.count(), try words.count(), try words.count())
    for _ in 0..<runCount { runs.append(try words.run()) }
    for _ in 0..<mergeCount { merges.append(try words.merge()) }
    for _ in 0..<garbageCount {
      garbage.append(IndexGarbage(number: try words.next(), kind: try words.kind()))
    }
    guard words.isAtEnd else { throw IndexWords.malformed }
  }

  /// Writes the row. Returns the root. The caller must store it in the same transaction.
  func write(in writer: any IndexWriter) throws -> IndexRoot {
    var words = [Self.magic, version, indexedSize, nextRun]
    words += [UInt64(runs.count), UInt64(merges.count), UInt64(garbage.count)]
    for run in runs { words += run.words }
    for merge in merges {
      words += merge.output.words + [merge.owner.high, merge.owner.low, merge.time]
      words += [merge.progress.last?.fingerprint ?? .max, merge.progress.last?.index ?? 0]
      words += [UInt64(merge.progress.filterRow)] + merge.progress.filterPart.numbers
      words += [UInt64(merge.inputs.count)] + merge.inputs
    }
    for garbage in garbage { words += [garbage.number, UInt64(garbage.kind.rawValue)] }
    var row: [UInt8] = []
    row.reserveCapacity(8 * words.count)
    for word in words { row.append(bigEndian: word) }
    try writer.put(IndexPlace.catalogue.table, IndexPlace.catalogue.key, row)
    return SHA256Digest(of: row.span)
  }
}

extension IndexRun {
  fileprivate var words: [UInt64] {
    [number, UInt64(kind.rawValue), UInt64(level), from, to, UInt64(filterBlocks), records, UInt64(pages)]
      + [UInt64(fenceRows)] + fenceDigest.numbers + filterDigest.numbers
  }
}

private struct IndexWords {
  private let row: [UInt8]
  private var offset = 0

  init(_ row: [UInt8]) { self.row = row }

  static let malformed = IndexPlace.catalogue.corrupt("The catalogue is malformed.")

  var isAtEnd: Bool { offset == row.count }

  mutating func next() throws(IndexError) -> UInt64 {
    guard row.count - offset >= 8 else { throw Self.malformed }
    defer { offset += 8 }
    return row.span.bigEndian(at: offset)
  }

  /// Reads the count of elements that follow, each of at least one word.
  mutating func count() throws(IndexError) -> Int { try number(below: (row.count - offset) / 8 + 1) }

  mutating func number(below limit: Int) throws(IndexError) -> Int {
    guard let number = Int(exactly: try next()), number < limit else { throw Self.malformed }
    return number
  }

  mutating func kind() throws(IndexError) -> IndexKind {
    guard let kind = IndexKind(rawValue: UInt8(try number(below: 256))) else { throw Self.malformed }
    return kind
  }

  mutating func digest() throws(IndexError) -> SHA256Digest {
    SHA256Digest(words: (try next(), try next(), try next(), try next()))
  }

  mutating func run() throws(IndexError) -> IndexRun {
    IndexRun(
      number: try next(), kind: try kind(), level: UInt8(try number(below: 256)), from: try next(),
      to: try next(), filterBlocks: try number(below: IndexRun.partLimit * IndexRun.blocksPerRow),
      records: try next(), pages: try number(below: IndexRun.partLimit),
      fenceRows: try number(below: IndexRun.partLimit), fenceDigest: try digest(),
      filterDigest: try digest())
  }

  mutating func merge() throws(IndexError) -> IndexMerge {
    var progress = IndexRunProgress(run: try run())
    let owner = IndexMergeOwner(high: try next(), low: try next())
    let time = try next()
    let (fingerprint, index) = (try next(), try next())
    if fingerprint != .max { progress.last = IndexRecord(fingerprint: fingerprint, index: index) }
    progress.filterRow = try number(below: IndexRun.partLimit)
    progress.filterPart = try digest()
    var inputs: [UInt64] = []
    for _ in 0..<(try count()) { inputs.append(try next()) }
    return IndexMerge(inputs: inputs, owner: owner, time: time, progress: progress)
  }
}
