// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// The values of an entry that a check compares with those of other entries.
struct EntryLine {
  var time: Int64
  /// The original transaction, identified by the first half of its SHA-256.
  var original: LineKey?
  var previous: UInt64?
  /// The index of the entry that was erased, if this entry is an erasure.
  var erased: UInt64?
  /// The values that the entry states, if it is an anchor.
  var anchor: Anchor?
  /// `true` if the entry replaced the trail's key.
  var isSuccession = false
  /// `true` if the erasable part is gone.
  var isErased: Bool

  struct Anchor {
    var size: UInt64?
    var newest: UInt64?
    var count: UInt64?
  }
}

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
  /// The policies that the entries name.
  private(set) var policies: Set<SHA256Digest> = []
  private var commitments: [SHA256Digest?] = []

  init(first: UInt64) {
    self.first = first
    hashes.reserveCapacity(BundleRow.entryCount)
    lines.reserveCapacity(BundleRow.entryCount)
  }

  /// Checks the next entry, without its erasable part.
  ///
  /// - Returns: The entry's keys; `nil` if it cannot be read.
  @discardableResult
  mutating func add(_ entry: Span<UInt8>) -> EntryIndexKeys? {
    let index = first + UInt64(hashes.count)
    hashes.append(.leaf(entry))
    var line = EntryLine(time: 0, original: nil, previous: nil, erased: nil, anchor: nil, isErased: false)
    var commitment: SHA256Digest?
    defer {
      lines.append(line)
      commitments.append(commitment)
    }
    let keys: EntryIndexKeys
    do { keys = try EntryIndexKeys(entry) } catch {
      faults.append(TrailFault(.malformedEntry, entry: index, "\(error)"))
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
      faults.append(
        TrailFault(
          .alteredErasablePart, entry: index, "Its erasable part is not the one that the entry commits to."))
    }
  }

  /// Notes that the key of the last entry's erasable part was forgotten.
  mutating func noteErased() {
    if !lines.isEmpty { lines[lines.count - 1].isErased = true }
  }

  /// Reads an entry without a receipt in full.
  ///
  /// Erasures, anchors and the like are few.
  private mutating func readStatement(_ entry: Span<UInt8>, _ line: inout EntryLine) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entry.count)
    for index in entry.indices { bytes.append(entry[index]) }
    guard let entry = try? AuditEntry(parsing: bytes) else { return }
    line.isSuccession = entry.kind == .key
    if entry.kind == .erasure { line.erased = entry.erased }
    if entry.kind == .anchor {
      line.anchor = EntryLine.Anchor(size: entry.size, newest: entry.newest, count: entry.count)
    }
  }
}

/// The newest entry and the number of entries of each original transaction.
///
/// The table is split into 256 parts, because a dictionary exists twice for a moment when it grows.
private struct LineTable {
  private var parts = [[LineKey: Line]](repeating: [:], count: 256)

  struct Line {
    let newest: UInt64
    let count: UInt64
  }

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
  /// The policies that entries name.
  private(set) var policies: Set<SHA256Digest> = []
  /// The time of the last entry.
  var newestTime: Int64 { lastTime == .min ? 0 : lastTime }

  /// Compares the next entries with those before them.
  mutating func add(_ entries: CheckedEntries) -> [TrailFault] {
    var faults: [TrailFault] = []
    policies.formUnion(entries.policies)
    for line in entries.lines {
      let index = next
      next += 1
      if line.time < lastTime {
        faults.append(
          TrailFault(.timeRunsBackwards, entry: index, "The entry is dated before the one in front of it."))
      }
      lastTime = max(lastTime, line.time)
      let known = line.original.flatMap { lines[$0] }
      if line.previous != known?.newest {
        faults.append(
          TrailFault(
            .brokenLine, entry: index,
            "The entry leads to \(Self.name(line.previous)); the one before it of the same original transaction is "
              + "\(Self.name(known?.newest))."))
      }
      if let anchor = line.anchor,
        anchor.size != index || anchor.newest != known?.newest || anchor.count != known?.count ?? 0
      {
        faults.append(
          TrailFault(
            .wrongAnchor, entry: index,
            "It says \(Self.name(anchor.newest)) is the newest of \(anchor.count ?? 0); it is \(Self.name(known?.newest)) "
              + "of \(known?.count ?? 0)."))
      }
      if let key = line.original {
        lines[key] = LineTable.Line(newest: index, count: (known?.count ?? 0) + 1)
      }
      if line.isSuccession { successions.append(index) }
      if line.isErased { erased.insert(index) }
      if let target = line.erased { erasures[target] = index }
    }
    return faults
  }

  /// Finds the faults that show only after all entries were seen.
  ///
  /// - Parameter sawErasableParts: `true` if the erasable parts were available.
  /// - Returns: The faults.
  mutating func finish(sawErasableParts: Bool) -> [TrailFault] {
    // This frees most of the memory of a check, which continues with the index.
    lines = LineTable()
    guard sawErasableParts else { return [] }
    let unrecorded = erased.filter { erasures[$0] == nil }.sorted().map {
      TrailFault(
        .unrecordedErasure, entry: $0, "Its erasable part is gone, and no entry says that it was erased.")
    }
    let undone = erasures.filter { !erased.contains($0.key) }.sorted { $0.key < $1.key }.map {
      TrailFault(
        .unrecordedErasure, entry: $0.key,
        "Entry \($0.value) says that its erasable part was erased; it is there.")
    }
    return unrecorded + undone
  }

  private static func name(_ index: UInt64?) -> String { index.map { "entry \($0)" } ?? "none" }
}
