// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// Where a record stands in the trail.
public struct AuditAcknowledgement: Sendable, Hashable {
  /// The index of the entry.
  public let index: UInt64
  /// Whether the same verdict of the same receipt under the same policy was there already: `index` is then that
  /// entry's, and nothing was added.
  public let isRepeat: Bool

  /// Creates one, as tests and stand-ins do.
  public init(index: UInt64, isRepeat: Bool) {
    self.index = index
    self.isRepeat = isRepeat
  }
}

extension TrailState {
  /// Enters records, in order, in the transaction of `writer`. After it throws, this state is of no more use.
  mutating func append(
    _ records: [AuditRecord], once: TrailConfiguration.OnceWindow, in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    var unsavedFrom = head.size
    var acknowledgements: [AuditAcknowledgement] = []
    acknowledgements.reserveCapacity(records.count)
    for record in records {
      let fingerprints = EntryFingerprints(record, key)
      if let first = try repeated(record, fingerprints, once: once, in: writer) {
        acknowledgements.append(AuditAcknowledgement(index: first, isRepeat: true))
        continue
      }
      let position = head.size
      guard position < TrailLimits.entries else {
        throw AuditError(.invalidRecord, at: "entry \(position)", "The trail is full; begin another.")
      }
      try enter(record, fingerprints, in: writer)
      try closeBundle(after: position, &unsavedFrom, in: writer)
      acknowledgements.append(AuditAcknowledgement(index: position, isRepeat: false))
    }
    try writeTail(from: unsavedFrom, in: writer)
    if acknowledgements.contains(where: { !$0.isRepeat }) {
      head.root = frontier.root
      try head.write(writer)
    }
    return acknowledgements
  }

  /// Writes the index records that are only in memory as runs, where there are enough of them.
  mutating func flushIndex(in writer: any StorageWriter) throws {
    guard head.size - head.indexedSize >= TrailLimits.flushInterval else { return }
    // Whole bundles, so that which records there are does not depend on when they were flushed.
    head.indexedSize = head.size & ~255
    try index.flush(upTo: head.indexedSize, in: writer)
    try head.write(writer)
  }

  private mutating func enter(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, in writer: any StorageWriter
  ) throws {
    var erasable: [UInt8] = []
    var commitment: SHA256Digest?
    if record.hasErasablePart {
      do {
        try ErasablePart.encode(record, salt: Random.bytes(ErasablePart.saltByteCount)[...], into: &erasable)
      } catch {
        throw AuditError(.invalidRecord, at: "erasable part", "\(error)")
      }
      guard erasable.count <= TrailLimits.erasableByteCount else {
        throw AuditError(
          .invalidRecord, at: "erasable part",
          "The receipt and tokens are \(erasable.count) bytes; at most \(TrailLimits.erasableByteCount) are kept."
        )
      }
      commitment = SHA256Digest(of: erasable)
    }
    let previous = try record.original.flatMap { try newest(original: $0, in: writer) }
    let time = max(record.time, head.lastTime)
    var entry: [UInt8] = []
    do {
      try AuditEntry.encode(
        record.facts, time: time, previous: previous, commitment: commitment, into: &entry)
    } catch {
      throw AuditError(.invalidRecord, at: "entry", "\(error)")
    }
    guard entry.count <= TrailLimits.entryByteCount else {
      throw AuditError(
        .invalidRecord, at: "entry",
        "The entry would have \(entry.count) bytes; at most \(TrailLimits.entryByteCount) are allowed.")
    }
    try place(entry, erasable, time: time, fingerprints, in: writer)
  }

  /// Puts an entry after the last one.
  private mutating func place(
    _ entry: [UInt8], _ erasable: [UInt8], time: Int64, _ fingerprints: EntryFingerprints,
    in writer: any StorageWriter
  ) throws {
    let position = head.size
    let hasOwnRow = erasable.count > TrailLimits.inlineErasableByteCount
    if hasOwnRow { try writer.put(.payloads, Int64(position), erasable) }
    tail.append(StoredEntry(entry: entry, erasable: hasOwnRow ? [] : erasable, hasOwnRow: hasOwnRow))
    try frontier.append(.leaf(entry)) { coordinates, hashes in
      if coordinates.level == 0 {
        try writer.put(.bundles, Int64(coordinates.number), BundleRow.encode(hashes, tail[...]))
      } else {
        try writer.put(.tiles, StoredTiles.key(coordinates), TileCoordinates.encode(hashes))
      }
    }
    fingerprints.insert(into: &index, at: position)
    head.size = position + 1
    head.lastTime = time
  }

  /// Writes what ``append(_:once:in:)`` and ``adopt(_:in:)`` left in memory.
  private func writeTail(from first: UInt64, in writer: any StorageWriter) throws {
    for index in max(first, head.size & ~255)..<head.size {
      try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)]))
    }
  }

  /// Takes over entries of another copy of the same trail, byte for byte.
  ///
  /// - Throws: ``AuditError/Code/tampered`` where they cannot be entries of a trail.
  mutating func adopt(_ copied: [(entry: [UInt8], erasable: [UInt8])], in writer: any StorageWriter) throws {
    var unsavedFrom = head.size
    for (entry, erasable) in copied {
      let position = head.size
      let keys = try Self.keys(of: entry, at: position)
      guard keys.time >= head.lastTime else {
        throw AuditError(
          .tampered, at: "entry \(position)", "The entry is dated before the one in front of it.")
      }
      let fingerprints = try Self.fingerprints(
        of: StoredEntry(entry: entry, erasable: erasable, hasOwnRow: false), at: position, key)
      try place(entry, erasable, time: keys.time, fingerprints, in: writer)
      try closeBundle(after: position, &unsavedFrom, in: writer)
    }
    try writeTail(from: unsavedFrom, in: writer)
    head.root = frontier.root
    try head.write(writer)
  }

  /// After the last entry of a bundle, nothing of it is in the tail any more.
  private mutating func closeBundle(
    after position: UInt64, _ unsavedFrom: inout UInt64, in writer: any StorageWriter
  ) throws {
    guard tail.count == BundleRow.entryCount else { return }
    let first = position & ~255
    // Rows of the tail exist for what earlier transactions left there.
    if first < unsavedFrom { try writer.remove(.tail, in: Int64(first)...Int64(position), erasing: true) }
    unsavedFrom = position + 1
    tail.removeAll(keepingCapacity: true)
  }

  /// The entry that says the same already.
  private func repeated(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, once: TrailConfiguration.OnceWindow,
    in writer: any StorageWriter
  ) throws -> UInt64? {
    guard let fingerprint = fingerprints.receipt else { return nil }
    var wanted: SHA256Digest?
    var candidates = index.candidates(.receipt, fingerprint, before: head.size, in: writer)
    while let candidate = try candidates.next() {
      let entry = try bytes(of: candidate, in: writer)
      let keys = try Self.keys(of: entry, at: candidate)
      if case .seconds(let seconds) = once, keys.time < record.time - seconds * 1000 { break }
      if wanted == nil { wanted = ExactlyOnce.key(record.facts) }
      if ExactlyOnce.key(keys, in: entry.span) == wanted { return candidate }
    }
    return nil
  }

  /// The newest entry of an original transaction.
  func newest(original: String, in writer: any StorageWriter) throws -> UInt64? {
    let name = EntryText.encoded(original)
    var candidates = index.candidates(
      .original, key.fingerprint(.original, name), before: head.size, in: writer)
    while let candidate = try candidates.next() {
      let entry = try bytes(of: candidate, in: writer)
      if let range = try Self.keys(of: entry, at: candidate).original, entry[range].elementsEqual(name) {
        return candidate
      }
    }
    return nil
  }

  static func keys(of entry: [UInt8], at index: UInt64) throws -> EntryIndexKeys {
    do { return try EntryIndexKeys(entry) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "The entry cannot be read: \(error)")
    }
  }

  /// The entry at `index`, which may be one of this transaction.
  func bytes(of index: UInt64, in writer: any StorageWriter) throws -> [UInt8] {
    if index >= head.size & ~255, index < head.size, Int(index & 255) < tail.count {
      return tail[Int(index & 255)].entry
    }
    guard let entry = try StoredEntries(reader: writer).entry(at: index) else {
      throw StoredEntries.missing(index)
    }
    return entry
  }
}
