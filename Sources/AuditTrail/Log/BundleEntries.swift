// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// Entries of one bundle that follow each other, laid out as its row has them: a bundle is put together by joining
/// such pieces, without a look at the single entries.
struct BundleEntries: Sendable {
  /// The entries, without separators.
  private(set) var entries: [UInt8] = []
  /// The erasable parts that have no rows of their own, without separators.
  private(set) var erasables: [UInt8] = []
  private var ends: [End] = []

  /// Where what is stored of an entry ends.
  private struct End {
    let entry: Int
    let erasable: Int
    let hasOwnRow: Bool
  }

  var count: Int { ends.count }

  /// The bytes of an entry.
  func entry(_ position: Int) -> ArraySlice<UInt8> {
    entries[(position == 0 ? 0 : ends[position - 1].entry)..<ends[position].entry]
  }

  private func erasableRange(_ position: Int) -> Range<Int> {
    (position == 0 ? 0 : ends[position - 1].erasable)..<ends[position].erasable
  }

  /// What is stored of an entry.
  subscript(position: Int) -> StoredEntry {
    StoredEntry(
      entry: Array(entry(position)), erasable: Array(erasables[erasableRange(position)]),
      hasOwnRow: ends[position].hasOwnRow)
  }

  mutating func reserve(entryByteCount: Int, erasableByteCount: Int, count: Int) {
    entries.reserveCapacity(entryByteCount)
    erasables.reserveCapacity(erasableByteCount)
    ends.reserveCapacity(count)
  }

  /// Appends an entry.
  ///
  /// - Parameters:
  ///   - erasable: Its erasable part; empty where it has none, or one with a row of its own.
  ///   - hasOwnRow: Whether the erasable part has a row of its own.
  ///   - encoding: Appends the bytes of the entry.
  /// - Returns: The leaf hash of the entry.
  /// - Throws: What `encoding` throws; these entries are then of no more use.
  @discardableResult
  mutating func append(
    erasable: [UInt8], hasOwnRow: Bool, _ encoding: (inout [UInt8]) throws -> Void
  ) rethrows -> TreeHash {
    let start = entries.count
    try encoding(&entries)
    erasables += erasable
    ends.append(End(entry: entries.count, erasable: erasables.count, hasOwnRow: hasOwnRow))
    return .leaf(entries.span.extracting(start..<entries.count))
  }

  /// Appends an entry that was read.
  ///
  /// - Returns: The leaf hash of the entry.
  @discardableResult
  mutating func append(_ stored: StoredEntry) -> TreeHash {
    append(erasable: stored.erasable, hasOwnRow: stored.hasOwnRow) { $0 += stored.entry }
  }

  mutating func append(contentsOf others: BundleEntries) {
    guard count > 0 else {
      self = others
      return
    }
    let (entryStart, erasableStart) = (entries.count, erasables.count)
    entries += others.entries
    erasables += others.erasables
    for end in others.ends {
      ends.append(
        End(
          entry: entryStart + end.entry, erasable: erasableStart + end.erasable, hasOwnRow: end.hasOwnRow))
    }
  }

  /// Puts zeros in the place of an erasable part that has no row of its own.
  mutating func erase(_ position: Int) {
    for index in erasableRange(position) { erasables[index] = 0 }
  }

  /// Appends the lengths of the entries, then those of the erasable parts, as a bundle's row has them.
  func appendLengths(to row: inout [UInt8]) {
    var start = 0
    for end in ends {
      row.append(bigEndian: UInt16(end.entry - start))
      start = end.entry
    }
    start = 0
    for end in ends {
      row.append(bigEndian: end.hasOwnRow ? BundleRow.ownRow : UInt16(end.erasable - start))
      start = end.erasable
    }
  }
}

/// Entries of one bundle that follow each other, with all that entering them takes.
struct EncodedEntries: Sendable {
  private(set) var stored = BundleEntries()
  private(set) var leaves: [TreeHash] = []
  private(set) var fingerprints: [EntryFingerprints] = []
  /// The erasable parts with rows of their own, and which entries they are of.
  private(set) var payloads: [(position: Int, erasable: [UInt8])] = []
  /// Of the last entry, in milliseconds since 1970.
  private(set) var lastTime: Int64 = 0

  var count: Int { leaves.count }

  /// - Parameter count: How many entries there will be.
  init(reserving count: Int) {
    stored.reserve(entryByteCount: 512 * count + 2048, erasableByteCount: 512 * count, count: count)
    leaves.reserveCapacity(count)
    fingerprints.reserveCapacity(count)
  }

  /// Appends an entry.
  ///
  /// - Parameters:
  ///   - time: Its time, in milliseconds since 1970.
  ///   - erasable: Its erasable part; empty where it has none.
  ///   - fingerprints: What it is found under.
  ///   - encoding: Appends the bytes of the entry.
  /// - Throws: What `encoding` throws; these entries are then of no more use.
  mutating func append(
    time: Int64, erasable: [UInt8], _ fingerprints: EntryFingerprints,
    encoding: (inout [UInt8]) throws -> Void
  ) rethrows {
    let hasOwnRow = erasable.count > TrailLimits.inlineErasableByteCount
    if hasOwnRow { payloads.append((count, erasable)) }
    leaves.append(try stored.append(erasable: hasOwnRow ? [] : erasable, hasOwnRow: hasOwnRow, encoding))
    self.fingerprints.append(fingerprints)
    lastTime = time
  }
}
