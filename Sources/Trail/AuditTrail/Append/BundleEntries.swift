// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// Consecutive entries of one bundle, laid out as in its row.
///
/// A bundle is assembled by joining such pieces, without reading the single entries.
struct BundleEntries: Sendable {
  /// The entries, without separators.
  private(set) var entries: [UInt8] = []
  /// The erasable parts that have no rows of their own, without separators.
  private(set) var erasables: [UInt8] = []
  private var ends: [End] = []

  /// The end offsets of an entry and its erasable part.
  private struct End {
    let entry: Int
    let erasable: Int
    let isOutOfLine: Bool
  }

  var count: Int { ends.count }

  /// The bytes of an entry.
  func entry(_ position: Int) -> ArraySlice<UInt8> {
    entries[(position == 0 ? 0 : ends[position - 1].entry)..<ends[position].entry]
  }

  private func erasableRange(_ position: Int) -> Range<Int> {
    (position == 0 ? 0 : ends[position - 1].erasable)..<ends[position].erasable
  }

  /// The stored form of an entry.
  subscript(position: Int) -> StoredEntry {
    StoredEntry(
      entry: Array(entry(position)), erasable: Array(erasables[erasableRange(position)]),
      isOutOfLine: ends[position].isOutOfLine)
  }

  mutating func reserve(entryByteCount: Int, erasableByteCount: Int, count: Int) {
    entries.reserveCapacity(entryByteCount)
    erasables.reserveCapacity(erasableByteCount)
    ends.reserveCapacity(count)
  }

  /// Appends an entry.
  ///
  /// - Parameters:
  ///   - isOutOfLine: `true` if the erasable part has a row of its own.
  ///   - erasable: Appends the erasable part, or nothing if the entry has no part or the part has a row of its own.
  ///   - encoding: Appends the bytes of the entry.
  /// - Returns: The leaf hash of the entry.
  /// - Throws: The errors of `encoding`; these entries must not be used afterwards.
  @discardableResult
  mutating func append(
    isOutOfLine: Bool, erasable: (inout [UInt8]) -> Void, _ encoding: (inout [UInt8]) throws -> Void
  ) rethrows -> TreeHash {
    let start = entries.count
    try encoding(&entries)
    erasable(&erasables)
    ends.append(End(entry: entries.count, erasable: erasables.count, isOutOfLine: isOutOfLine))
    return .leaf(entries.span.extracting(start..<entries.count))
  }

  /// Appends an entry that was read.
  ///
  /// - Returns: The leaf hash of the entry.
  @discardableResult
  mutating func append(_ stored: StoredEntry) -> TreeHash {
    append(isOutOfLine: stored.isOutOfLine) {
      $0 += stored.erasable
    } _: {
      $0 += stored.entry
    }
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
          entry: entryStart + end.entry, erasable: erasableStart + end.erasable, isOutOfLine: end.isOutOfLine)
      )
    }
  }

  /// Appends the lengths of the entries, then those of the erasable parts, as in a bundle's row.
  func appendLengths(to row: inout [UInt8]) {
    var start = 0
    for end in ends {
      row.append(bigEndian: UInt16(end.entry - start))
      start = end.entry
    }
    start = 0
    for end in ends {
      row.append(bigEndian: end.isOutOfLine ? BundleRow.outOfLineLength : UInt16(end.erasable - start))
      start = end.erasable
    }
  }
}

/// Consecutive entries of one bundle, with everything that is needed to enter them.
struct EncodedEntries: Sendable {
  private(set) var stored = BundleEntries()
  private(set) var leaves: [TreeHash] = []
  private(set) var fingerprints: [EntryFingerprints] = []
  /// The sealed erasable parts that have rows of their own, with the positions of their entries.
  private(set) var payloads: [(position: Int, erasable: [UInt8])] = []
  /// The time of the last entry, in milliseconds since 1970.
  private(set) var lastTime: Int64 = 0
  private let first: UInt64
  private var erasureKeys: ErasureKeyPath
  /// The nonces of the erasable parts, in order.
  ///
  /// One draw serves all, since the random generator is slow to start.
  private let nonces: [UInt8]

  var count: Int { leaves.count }

  /// - Parameters:
  ///   - count: The number of entries to come.
  ///   - erasableByteCount: The approximate size of their erasable parts, in bytes.
  ///   - first: The index of the first entry.
  ///   - erasureKeys: The path to the keys of their erasable parts.
  init(
    reserving count: Int, erasableByteCount: Int, from first: UInt64, _ erasureKeys: ErasureKeyPath
  ) {
    self.first = first
    self.erasureKeys = erasureKeys
    nonces = Random.bytes(AES256GCM.nonceByteCount * count)
    stored.reserve(
      entryByteCount: 640 * count + 2048, erasableByteCount: erasableByteCount + AES256GCM.overhead * count,
      count: count)
    leaves.reserveCapacity(count)
    fingerprints.reserveCapacity(count)
  }

  /// Appends an entry.
  ///
  /// - Parameters:
  ///   - time: Its time, in milliseconds since 1970.
  ///   - erasable: Its erasable part; `nil` if it has none.
  ///   - cipher: Seals the part.
  ///   - fingerprints: The fingerprints under which the entry is found.
  ///   - encoding: Appends the bytes of the entry.
  /// - Throws: ``AuditError/Code/tampered`` if the part's key is missing; the errors of `encoding`. These entries must
  ///   not be used afterwards.
  mutating func append(
    time: Int64, erasable: [UInt8]?, with cipher: inout AES256GCM, _ fingerprints: EntryFingerprints,
    encoding: (inout [UInt8]) throws -> Void
  ) throws {
    self.fingerprints.append(fingerprints)
    lastTime = time
    guard let erasable else {
      leaves.append(try stored.append(isOutOfLine: false, erasable: { _ in }, encoding))
      return
    }
    guard let key = erasureKeys.key(of: first + UInt64(count)) else {
      throw AuditError(
        .tampered, at: "covers 0", "There is no key for the erasable part of entry \(first + UInt64(count)).")
    }
    let nonces = nonces
    let nonce = AES256GCM.nonceByteCount * count..<AES256GCM.nonceByteCount * (count + 1)
    if erasable.count + AES256GCM.overhead > TrailLimits.inlineErasableByteCount {
      var sealed: [UInt8] = []
      cipher.seal(erasable.span, key: key, nonce: nonces.span.extracting(nonce), into: &sealed)
      payloads.append((count, sealed))
      leaves.append(try stored.append(isOutOfLine: true, erasable: { _ in }, encoding))
    } else {
      let leaf = try stored.append(isOutOfLine: false) {
        cipher.seal(erasable.span, key: key, nonce: nonces.span.extracting(nonce), into: &$0)
      } _: {
        try encoding(&$0)
      }
      leaves.append(leaf)
    }
  }
}
