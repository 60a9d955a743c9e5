// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The index records of the entries that are not in runs yet, shared by the engine and its readers. Readers may keep it
/// while the engine inserts more records: a reader's lookups are limited to the size of the log that it sees. A flush
/// starts a new table and leaves this one unchanged.
final class Memtable: Sendable {
  /// The index of the first entry whose records are accepted.
  let base: UInt64
  private let records: Mutex<MemtableRecords>

  /// Creates an empty table with capacity for the number of records of each kind in `sizes`.
  init(base: UInt64, expecting sizes: [IndexKind: Int] = [:]) {
    self.base = base
    records = Mutex(MemtableRecords(base: base, expecting: sizes))
  }

  private init(base: UInt64, _ records: MemtableRecords) {
    self.base = base
    self.records = Mutex(records)
  }

  func withRecords<Result: Sendable>(_ body: (inout MemtableRecords) -> Result) -> Result {
    records.withLock { body(&$0) }
  }

  func newest(_ kind: IndexKind, _ fingerprint: UInt64, check: UInt32, before: UInt64) -> UInt64? {
    withRecords { $0.newest(kind, fingerprint, check: check, before: before) }
  }

  func remove(_ kind: IndexKind, _ removed: [IndexRecord]) {
    withRecords { records in for record in removed { _ = records.remove(kind, record) } }
  }

  /// Returns a copy without these records, and the number of records removed. This table stays as it is, because its
  /// readers must see the records until the removal is committed.
  func without(_ kind: IndexKind, _ removed: [IndexRecord]) -> (Memtable, removed: Int) {
    var records = withRecords { $0 }
    let count = removed.count { records.remove(kind, $0) }
    return count == 0 ? (self, 0) : (Memtable(base: base, records), count)
  }

  /// The records of a kind for entries in `range`, in the order of insertion.
  func records(_ kind: IndexKind, in range: Range<UInt64>) -> [IndexRecord] {
    let all = withRecords { $0[kind].records }
    var records: [IndexRecord] = []
    records.reserveCapacity(all.count)
    for record in all where !record.isRemoved {
      let index = base + UInt64(record.index)
      guard range.contains(index) else { continue }
      records.append(IndexRecord(fingerprint: record.fingerprint, index: index, check: record.check))
    }
    return records
  }

  var counts: [IndexKind: Int] { withRecords { $0.counts } }
}

/// Records in memory: those of an index, accessed while its lock is held, or those of some entries alone.
package struct MemtableRecords: Sendable {
  private let base: UInt64
  private var kinds: [MemtableKind]
  /// The combined result of ``touch(_:_:)``. It is never used, but keeps the compiler from removing the loads.
  private var touched: UInt32 = 0

  /// Creates an empty set of records with capacity for the number of records of each kind in `sizes`.
  package init(base: UInt64, expecting sizes: [IndexKind: Int]) {
    self.base = base
    kinds = IndexKind.allCases.map { MemtableKind(expecting: sizes[$0] ?? 0) }
  }

  /// Loads the slots of these fingerprints into the processor's cache. Single lookups or insertions would each wait for
  /// the memory. These loads do not wait for each other.
  package mutating func touch(_ kind: IndexKind, _ fingerprints: [UInt64]) {
    touched ^= self[kind].touched(fingerprints)
  }

  fileprivate subscript(kind: IndexKind) -> MemtableKind { kinds[Int(kind.rawValue)] }

  fileprivate var counts: [IndexKind: Int] {
    Dictionary(uniqueKeysWithValues: IndexKind.allCases.map { ($0, self[$0].records.count) })
  }

  /// Inserts a record. The indices of a kind must not descend. Indices below the table's base are in runs and are
  /// ignored.
  package mutating func insert(
    _ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64, check: UInt32 = 0
  ) {
    guard index >= base, let relative = UInt32(exactly: index - base) else { return }
    kinds[Int(kind.rawValue)].insert(fingerprint & IndexRecord.fingerprintMask, relative, check)
  }

  package func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max
  ) -> UInt64? {
    guard before > base else { return nil }
    let newest = kinds[Int(kind.rawValue)].newest(fingerprint, check, before: UInt32(clamping: before - base))
    return newest.map { base + UInt64($0) }
  }

  /// The indices of the fingerprint below `before`, newest first, at most `limit`.
  package func indices(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max, limit: Int = .max
  ) -> [UInt64] {
    guard before > base else { return [] }
    let before = UInt32(clamping: before - base)
    return self[kind].collect(fingerprint, check, before: before, limit: limit).map { base + UInt64($0) }
  }

  package mutating func remove(_ kind: IndexKind, of entries: [UInt64]) {
    let base = base
    let relative = Set(entries.filter { $0 >= base }.compactMap { UInt32(exactly: $0 - base) })
    if !relative.isEmpty { kinds[Int(kind.rawValue)].remove(relative) }
  }

  fileprivate mutating func remove(_ kind: IndexKind, _ record: IndexRecord) -> Bool {
    guard record.index >= base, let relative = UInt32(exactly: record.index - base) else { return false }
    return kinds[Int(kind.rawValue)].remove(record.fingerprint, relative)
  }
}

extension MemtableKind.Record {
  static let removed = UInt32.max
  var isRemoved: Bool { index == Self.removed }
}

/// The records of one kind: chains of equal fingerprints, newest first, with their heads in an open-addressing table.
struct MemtableKind: Sendable {
  private(set) var records: [Record] = []
  /// A record's number plus 1 in the low bits, and a tag of the fingerprint's bits above; 0 if free. At most half are
  /// used.
  private var slots: [UInt32]
  private var mask: Int

  init(expecting count: Int) {
    var size = 64
    while size < 2 * count, size < 1 << 30 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    mask = size - 1
    records.reserveCapacity(count)
  }

  func touched(_ fingerprints: [UInt64]) -> UInt32 {
    fingerprints.reduce(0) { $0 ^ slots[Int(truncatingIfNeeded: $1) & mask] }
  }

  mutating func insert(_ fingerprint: UInt64, _ index: UInt32, _ check: UInt32) {
    if 2 * (records.count + 1) > slots.count { grow() }
    let slot = slot(of: fingerprint)
    let head = slots[slot] & UInt32(mask)
    records.append(Record(fingerprint: fingerprint, index: index, next: head, check: check))
    slots[slot] = tag(of: fingerprint) | UInt32(records.count)
  }

  func newest(_ fingerprint: UInt64, _ check: UInt32, before: UInt32) -> UInt32? {
    var number = newestNumber(of: fingerprint)
    while number > 0 {
      let record = records[Int(number) - 1]
      if record.index < before, record.check == check { return record.index }
      number = record.next
    }
    return nil
  }

  func collect(_ fingerprint: UInt64, _ check: UInt32, before: UInt32, limit: Int) -> [UInt32] {
    var found: [UInt32] = []
    var number = newestNumber(of: fingerprint)
    while number > 0, found.count < limit {
      let record = records[Int(number) - 1]
      if record.index < before, record.check == check { found.append(record.index) }
      number = record.next
    }
    return found
  }

  mutating func remove(_ indexes: Set<UInt32>) {
    for number in records.indices where indexes.contains(records[number].index) {
      records[number].index = Record.removed
    }
  }

  mutating func remove(_ fingerprint: UInt64, _ index: UInt32) -> Bool {
    var number = newestNumber(of: fingerprint)
    while number > 0 {
      if records[Int(number) - 1].index == index {
        records[Int(number) - 1].index = Record.removed
        return true
      }
      number = records[Int(number) - 1].next
    }
    return false
  }

  /// The number of the newest record of the fingerprint, plus 1; 0 without a record.
  @inline(__always)
  private func newestNumber(of fingerprint: UInt64) -> UInt32 { slots[slot(of: fingerprint)] & UInt32(mask) }

  /// The slot with the newest record of the fingerprint, or else the free slot for it.
  @inline(__always)
  private func slot(of fingerprint: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: fingerprint) & mask
    let tag = tag(of: fingerprint)
    while true {
      let word = slots[slot]
      if word == 0 { return slot }
      let number = word & UInt32(mask)
      if word &- number == tag, records[Int(number) - 1].fingerprint == fingerprint { return slot }
      slot = (slot + 1) & mask
    }
  }

  /// Bits of the fingerprint that do not determine the slot.
  @inline(__always)
  private func tag(of fingerprint: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: fingerprint >> 16) & ~UInt32(truncatingIfNeeded: mask)
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: 2 * slots.count)
    mask = slots.count - 1
    for (number, record) in records.enumerated() {
      slots[slot(of: record.fingerprint)] = tag(of: record.fingerprint) | UInt32(number + 1)
    }
  }
}
