// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// The first 128 bits of SHA-256, which identify an original transaction.
struct LineKey: Hashable {
  let first: UInt64
  let second: UInt64

  init(_ name: Span<UInt8>) {
    let digest = SHA256Digest(of: name)
    (first, second) = (digest.words.0, digest.words.1)
  }
}

/// Consecutive entries, each checked on its own.
struct CheckedEntries {
  let first: UInt64
  var hashes: [TreeHash] = []
  var lines: [EntryLine] = []
  var faults: [TrailFault] = []
  private(set) var policies: Set<SHA256Digest> = []
  private var commitments: [SHA256Digest?] = []

  init(first: UInt64) {
    self.first = first
    hashes.reserveCapacity(BundleRow.entryCount)
    lines.reserveCapacity(BundleRow.entryCount)
  }

  /// Checks the next entry, without its erasable part. Returns the entry's keys; `nil` if it cannot be read.
  @discardableResult
  mutating func add(_ entry: Span<UInt8>) -> EntryIndexKeys? {
    let index = first + UInt64(hashes.count)
    hashes.append(.leaf(entry))
    var line = EntryLine()
    var commitment: SHA256Digest?
    defer {
      lines.append(line)
      commitments.append(commitment)
    }
    let keys: EntryIndexKeys
    do { keys = try EntryIndexKeys(entry) } catch {
      faults.add(.malformedEntry, entry: index, "\(error)")
      return nil
    }
    commitment = keys.commitment
    line.time = keys.time
    line.previous = keys.previous
    if let policy = keys.policy { policies.insert(policy) }
    line.original = keys.original.map { LineKey(entry.extracting($0)) }
    if keys.receipt == nil { readStatement(entry, &line) }
    return keys
  }

  /// Checks the erasable parts of all entries; an erased part is empty.
  mutating func addErasableParts(_ parts: [[UInt8]]) {
    for (position, part) in parts.enumerated() where lines.indices.contains(position) {
      let index = first + UInt64(position)
      lines[position].isErased = part.isEmpty && commitments[position] != nil
      guard !part.isEmpty, commitments[position] != SHA256Digest(of: part) else { continue }
      faults.add(
        .alteredErasablePart, entry: index, "Its erasable part is not the one that the entry commits to.")
    }
  }

  /// Notes that the key of the last entry's erasable part was forgotten.
  mutating func noteErased() { if !lines.isEmpty { lines[lines.count - 1].isErased = true } }

  /// Reads an entry without a receipt in full. Erasures, anchors and the like are few.
  private mutating func readStatement(_ entry: Span<UInt8>, _ line: inout EntryLine) {
    guard let entry = try? AuditEntry(parsing: entry) else { return }
    line.isSuccession = entry.kind == .key
    if entry.kind == .erasure { line.erased = entry.erased }
    if entry.kind == .anchor {
      line.anchor = EntryLine.Anchor(size: entry.size, newest: entry.newest, count: entry.count)
    }
  }
}

/// The newest entry and the number of entries of each original transaction. The table is split into 256 parts, because
/// a dictionary exists twice for a moment when it grows.
private struct LineTable {
  typealias Line = (newest: UInt64, count: UInt64)

  private var parts = [[LineKey: Line]](repeating: [:], count: 256)

  subscript(key: LineKey) -> Line? {
    get { parts[Int(key.first >> 56)][key] }
    set { parts[Int(key.first >> 56)][key] = newValue }
  }
}

/// Compares entries with each other, in order: their predecessors, times and statements.
struct EntryLineChecker {
  private var lines = LineTable()
  private var lastTime = Int64.min
  private var erased: Set<UInt64> = []
  private var erasures: [UInt64: UInt64] = [:]
  private var next: UInt64 = 0
  /// The entries that replaced the trail's key.
  private(set) var successions: [UInt64] = []
  private(set) var policies: Set<SHA256Digest> = []
  var newestTime: Int64 { lastTime == .min ? 0 : lastTime }

  mutating func add(_ entries: CheckedEntries) -> [TrailFault] {
    var faults: [TrailFault] = []
    policies.formUnion(entries.policies)
    for line in entries.lines {
      let index = next
      next += 1
      if line.time < lastTime {
        faults.add(.timeRunsBackwards, entry: index, "The entry is dated before the one in front of it.")
      }
      lastTime = max(lastTime, line.time)
      let known = line.original.flatMap { lines[$0] }
      if line.previous != known?.newest {
        faults.add(
          .brokenLine, entry: index,
          "The entry leads to \(Self.name(line.previous)); the one before it of the same original transaction is "
            + "\(Self.name(known?.newest)).")
      }
      if let anchor = line.anchor,
        anchor.size != index || anchor.newest != known?.newest || anchor.count != known?.count ?? 0
      {
        faults.add(
          .wrongAnchor, entry: index,
          "It says \(Self.name(anchor.newest)) is the newest of \(anchor.count ?? 0); it is \(Self.name(known?.newest)) "
            + "of \(known?.count ?? 0).")
      }
      if let key = line.original {
        lines[key] = (newest: index, count: (known?.count ?? 0) + 1)
      }
      if line.isSuccession { successions.append(index) }
      if line.isErased { erased.insert(index) }
      if let target = line.erased { erasures[target] = index }
    }
    return faults
  }

  /// Finds the faults that show only after all entries were seen.
  mutating func finish(sawErasableParts: Bool) -> [TrailFault] {
    // This frees most of the memory of a check, which continues with the index.
    lines = LineTable()
    guard sawErasableParts else { return [] }
    var faults: [TrailFault] = []
    for entry in erased.sorted() where erasures[entry] == nil {
      faults.add(
        .unrecordedErasure, entry: entry, "Its erasable part is gone, and no entry says that it was erased.")
    }
    for (entry, erasure) in erasures.sorted(by: { $0.key < $1.key }) where !erased.contains(entry) {
      faults.add(
        .unrecordedErasure, entry: entry,
        "Entry \(erasure) says that its erasable part was erased; it is there.")
    }
    return faults
  }

  private static func name(_ index: UInt64?) -> String { index.map { "entry \($0)" } ?? "none" }
}
