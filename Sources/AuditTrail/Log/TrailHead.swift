// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// The row that every append changes: how far the trail has come.
///
///     format           1 byte: 2
///     size             8 bytes: entries
///     indexed size     8 bytes: entries whose index records are in runs
///     last time        8 bytes: of the newest entry, milliseconds since 1970
///     root             32 bytes: of the tree of all entries
///     index root       32 bytes: of the index's runs; zeros where there are none
///
/// Integers are big endian. The root is not signed; it says whether the entries are those that were committed
/// with it. What is signed is the checkpoint.
struct TrailHead: Equatable {
  static let empty = TrailHead(size: 0, indexedSize: 0, lastTime: 0, root: .empty, indexRoot: .none)

  var size: UInt64
  var indexedSize: UInt64
  var lastTime: Int64
  var root: TreeHash
  var indexRoot: IndexRoot

  /// Whether both have the same entries, whatever of them is indexed.
  func isSameTree(as other: TrailHead) -> Bool { size == other.size && root == other.root }

  static func read(_ reader: any StorageReader) throws -> TrailHead {
    guard let row = try reader.value(.head, 0) else {
      throw AuditError(
        .notATrail, at: "head", "There is no head; this is not an audit trail, or its head was removed.")
    }
    guard let head = TrailHead(row) else {
      throw AuditError(
        .tampered, at: "head", "The head is not of this format; restore the trail from a backup.")
    }
    return head
  }

  /// The root of the index, as the head has it, and how a merge changes it.
  static func index(in storage: any TrailStorage) -> StoredIndex {
    StoredIndex(storage: storage, root: { try read($0).indexRoot }) { root, writer in
      var head = try read(writer)
      head.indexRoot = root
      try head.write(writer)
    }
  }

  func write(_ writer: any StorageWriter) throws {
    var row: [UInt8] = [2]
    row.append(bigEndian: size)
    row.append(bigEndian: indexedSize)
    row.append(bigEndian: UInt64(bitPattern: lastTime))
    row += root.bytes + indexRoot.bytes
    try writer.put(.head, 0, row)
  }
}

extension TrailHead {
  private init?(_ row: [UInt8]) {
    guard row.count == 89, row[0] == 2, let root = TreeHash(row[25..<57]),
      let indexRoot = IndexRoot(Array(row[57...]))
    else { return nil }
    size = row.bigEndian(at: 1)
    indexedSize = row.bigEndian(at: 9)
    lastTime = Int64(bitPattern: row.bigEndian(at: 17))
    self.root = root
    self.indexRoot = indexRoot
    guard indexedSize <= size, size <= TrailLimits.entries else { return nil }
  }
}

/// What bounds a trail.
enum TrailLimits {
  /// Entries of a trail: indexes are stored in 40 bits.
  static let entries: UInt64 = 1 << 40
  /// The bytes of an entry. Entry bundles would allow 65,535.
  static let entryByteCount = 16384
  /// The bytes of an erasable part.
  static let erasableByteCount = 16 << 20
  /// An erasable part that is larger is stored in a row of its own.
  static let inlineErasableByteCount = 4096
  /// Entries between two flushes of the index: what has to be read again when a trail is opened.
  static let flushInterval: UInt64 = 65536
}
