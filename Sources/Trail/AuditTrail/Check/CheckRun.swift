// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// One check of a stored trail, with its findings so far.
struct CheckRun {
  let storage: any TrailStorage
  let head: TrailHead
  let keys: TrailKeys
  /// `true` if the trail has the keys of erasable parts. Without them, those parts and the index of customers are not
  /// checked.
  let hasKeys: Bool
  var faults: [TrailFault] = []
  private(set) var hasUnfinishedIndex = false
  private var lines = EntryLineChecker()
  private var tree: CheckedTree
  private var outOfLine: [UInt64] = []
  private var sums: IndexHashes
  private let points: MultisetHash.Points

  /// The number of bundles that all processors together read at a time.
  private static let windowCount = 64

  init(storage: any TrailStorage, head: TrailHead, keys: TrailKeys) throws {
    self.storage = storage
    self.head = head
    self.keys = keys
    hasKeys = try storage.read(ErasureKeys.arePresent)
    guard let points = MultisetHash.Points(Random.bytes(MultisetHash.Points.byteCount)) else {
      throw AuditError(.invalidRecord, at: "index", "The points of the sums do not have the right length.")
    }
    self.points = points
    tree = CheckedTree { tile in try storage.read { try StoredTiles.fullTile(tile, $0) } }
    sums = IndexHashes(keys.fingerprints, points, indexedSize: head.indexedSize)
  }

  private var bundleCount: Int { Int(head.size >> 8) }

  // MARK: - Entries

  mutating func checkEntries(progress: @Sendable (UInt64, UInt64) -> Void) throws {
    var first = 0
    var next = checkBundles(window(from: 0))
    while first < bundleCount {
      let checked = next
      first = window(from: first).upperBound
      next = checkBundles(window(from: first))
      // Entries are compared with each other one by one; meanwhile the next window is checked.
      for checked in try checked.take() { try take(checked) }
      progress(UInt64(first) << 8, head.size)
      guard faults.count < TrailCheckReport.maximumFaults else { return }
    }
    try take(
      storage.read { try CheckedBundle(head.size & ~255..<head.size, $0, noSums, hasKeys: hasKeys) })
    progress(head.size, head.size)
    faults += lines.finish(sawErasableParts: hasKeys)
    FreedMemory.release()
  }

  private func window(from first: Int) -> Range<Int> { first..<min(first + Self.windowCount, bundleCount) }

  private func checkBundles(_ window: Range<Int>) -> ConcurrentWork<[CheckedBundle]> {
    let (storage, hasKeys, noSums) = (storage, hasKeys, noSums)
    let check: @Sendable (Range<Int>) throws -> [CheckedBundle] = { part in
      try part.map { offset in
        let first = UInt64(window.lowerBound + offset) << 8
        return try storage.read { try CheckedBundle(first..<first + 256, $0, noSums, hasKeys: hasKeys) }
      }
    }
    guard !(storage is SingleState) else {
      return ConcurrentWork(result: Result { try check(0..<window.count) })
    }
    return ConcurrentWork { try AllProcessors.map(window.count, share: 1, check) }
  }

  private var noSums: IndexHashes { IndexHashes(keys.fingerprints, points, indexedSize: head.indexedSize) }

  private mutating func take(_ checked: CheckedBundle) throws {
    faults += checked.entries.faults
    faults += lines.add(checked.entries)
    outOfLine += checked.outOfLine
    sums.add(checked.sums)
    guard checked.isFull else {
      tree.tail = checked.entries.hashes
      return
    }
    for (tile, hashes) in tree.add(checked.root) {
      faults.compare(tile, hashes, with: try storage.read { try $0.value(.tiles, StoredTiles.key(tile)) })
    }
  }

  // MARK: - Rows

  /// Checks that there are no rows beside those of entries, tiles and notes.
  mutating func checkRows() throws {
    let (size, bundles) = (Int64(head.size), Int64(bundleCount))
    try checkNothing(.head, outside: [0...0])
    try checkSuccessions()
    faults += try storage.read { try StoredPolicies.faults(in: $0, head) }
    try checkNothing(.bundles, outside: bundles > 0 ? [0...bundles - 1] : [])
    try checkNothing(.tail, outside: size > bundles << 8 ? [bundles << 8...size - 1] : [])
    try checkNothing(.payloads, outside: outOfLine.map { Int64($0)...Int64($0) })
    let tiles = (1..<6).compactMap { level -> ClosedRange<Int64>? in
      let count = size >> Int64(8 * (level + 1))
      return count > 0 ? Int64(level) << 48...(Int64(level) << 48 + count - 1) : nil
    }
    try checkNothing(.tiles, outside: tiles)
    guard hasKeys else { return }
    do {
      let rows = try storage.read { reader in
        var keys = ErasureKeys(reader)
        return try keys.checkRows()
      }
      try checkNothing(.covers, outside: rows.covers)
      try checkNothing(.keys, outside: [rows.keys])
    } catch let error as AuditError {
      faults.add(.erasureKeys, at: error.place, error.message)
    }
  }

  /// Checks that every entry that replaced a key has its proof, and that there are no other proofs.
  private mutating func checkSuccessions() throws {
    let proofs = try storage.read { try TrailKeys.storedProofs($0) }
    let last = TrailNotes.firstSuccession + Int64(proofs.count) - 1
    try checkNothing(
      .notes,
      outside: [TrailNotes.configuration...last, TrailNotes.policyList...TrailNotes.policies.upperBound])
    // The roots for the proofs are computed from the tiles, which must be correct.
    guard faults.isEmpty || proofs.map(\.index) != lines.successions else { return }
    let reader = tree
    let fault = try KeyChain.fault(
      in: proofs, of: lines.successions, trusting: keys.chain.first
    ) { size in
      size <= head.size ? try MerkleTree.root(size: size, reader: reader) : .empty
    }
    if let fault { faults.add(.keySuccession, at: "notes", fault) }
  }

  private mutating func checkNothing(_ table: StorageTable, outside ranges: [ClosedRange<Int64>]) throws {
    var next = Int64.min
    var strays: [Int64] = []
    try storage.read { reader in
      for range in ranges {
        if next < range.lowerBound, let stray = try reader.lastKey(table, in: next...range.lowerBound - 1) {
          strays.append(stray)
        }
        next = range.upperBound + 1
      }
      if let stray = try reader.lastKey(table, in: next...Int64.max) { strays.append(stray) }
    }
    for stray in strays {
      faults.add(
        .strayRow, at: "\(table) \(stray)", "The row belongs to no entry, tile or note of the trail.")
    }
  }

  // MARK: - The tree

  var root: TreeHash { tree.root }

  mutating func checkHead() throws {
    if root != head.root {
      faults.add(.head, at: "head", "The head has the root \(head.root); the entries have \(root).")
    }
    if head.size > 0, lines.newestTime != head.lastTime {
      faults.add(.head, at: "head", "The head has another time than the newest entry.")
    }
  }

  mutating func compare(_ verified: VerifiedCheckpoint, named name: String) throws {
    let checkpoint = verified.checkpoint
    let size = checkpoint.size
    if checkpoint.origin != keys.origin {
      faults.add(.checkpoint, at: "checkpoint", "It is one of the log \(checkpoint.origin).")
    }
    guard size <= head.size else {
      return faults.add(
        .rolledBack, index: head.size, at: "entry \(head.size)",
        "The trail has \(head.size) entries, but \(name) covers \(size): entries are missing, or this is an old copy."
      )
    }
    guard faults.isEmpty, size > 0 || checkpoint.root != .empty,
      try MerkleTree.root(size: size, reader: tree) != checkpoint.root
    else { return }
    faults.add(
      .checkpoint, index: 0, at: "entries below \(size)",
      "The first \(size) entries do not have the root of \(name): the trail was altered throughout, or forked."
    )
  }

  // MARK: - The index

  mutating func checkIndex() throws {
    let run = self
    let parts = [nil] + IndexKind.allCases.map { Optional($0) }
    let check: @Sendable (Range<Int>) throws -> [IndexFinding] = { range in
      // Each part is read in a snapshot of its own: runs are merged while the trail is in use.
      try range.map { part in try run.storage.read { try run.checkIndex(parts[part], in: $0) } }
    }
    let findings =
      try storage is SingleState ? check(parts.indices) : AllProcessors.map(parts.count, share: 1, check)
    // Every part finds the faults that concern the whole index.
    var known: Set<TrailFault> = []
    faults += findings.flatMap(\.faults).filter { known.insert($0).inserted }
    hasUnfinishedIndex = findings.contains { $0.hasUnfinishedRebuild }
  }

  private typealias IndexFinding = (faults: [TrailFault], hasUnfinishedRebuild: Bool)

  /// Checks the index of a kind. If `kind` is `nil`, checks the rows that belong to no kind.
  private func checkIndex(_ kind: IndexKind?, in reader: any StorageReader) throws -> IndexFinding {
    do {
      let auditor = try IndexAuditor(root: keys.head(in: reader).indexRoot, in: IndexRows(base: reader))
      var faults: [TrailFault] = []
      guard auditor.indexedSize == head.indexedSize else {
        faults.add(
          .index, at: "runs",
          "The index reaches to entry \(auditor.indexedSize), the head says \(head.indexedSize).")
        return (faults, false)
      }
      guard let kind else {
        faults = try auditor.strayRows().map { TrailFault(.strayRow, at: "index", $0.description) }
        return (faults, try auditor.hasUnfinishedRebuild())
      }
      let report = try auditor.audit(kind, at: points)
      faults = report.damage.map { TrailFault(.index, at: "index \(kind)", $0.description) }
      if hasKeys || kind != .customer, faults.isEmpty, report.sum != sums.byKind[Int(kind.rawValue)] {
        faults.add(.index, at: "index \(kind)", "The records of this index are not those of the entries.")
      }
      return (faults, false)
    } catch let error as IndexError where error.code == .corrupt {
      return ([TrailFault(.index, at: error.place, error.message)], false)
    }
  }
}
