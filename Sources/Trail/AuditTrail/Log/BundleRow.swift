// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// A row of `bundles`: 256 entries with their leaf hashes and erasable parts.
///
///     256 × 32 bytes   leaf hashes: the tile of level 0
///     8 × 32 bytes     the root of each 32 of them, so that a proof needs fewer hashes
///     256 × 2 bytes    the length of each entry
///     256 × 2 bytes    the length of each erasable part, or 65,535 for one in a row of its own
///     entries, then erasable parts, without separators
///
/// Integers are big endian. The sections are in this order so that a tile, or one entry, can be read without the rest.
package enum BundleRow {
  package static let entryCount = 256
  static let tileByteCount = entryCount * TreeHash.byteCount
  static let groupedTileByteCount = tileByteCount + GroupedTile.groupCount * TreeHash.byteCount
  static let lengthsByteCount = entryCount * 4
  package static let headerByteCount = groupedTileByteCount + lengthsByteCount
  package static let lengthsRange = groupedTileByteCount..<headerByteCount
  static let outOfLineLength: UInt16 = .max

  static func encode(_ tile: GroupedTile, _ entries: BundleEntries) -> [UInt8] {
    var row: [UInt8] = []
    row.reserveCapacity(headerByteCount + entries.entries.count + entries.erasables.count)
    for hash in tile.hashes { hash.append(to: &row) }
    for root in tile.groupRoots { root.append(to: &row) }
    entries.append(to: &row)
    return row
  }

  /// Returns the range of one entry in a row, computed from the row's lengths.
  static func entryRange(_ lengths: Span<UInt8>, _ position: Int) -> Range<Int> {
    var offset = headerByteCount
    for earlier in 0..<position { offset += Int(lengths[2 * earlier]) << 8 | Int(lengths[2 * earlier + 1]) }
    return offset..<offset + (Int(lengths[2 * position]) << 8 | Int(lengths[2 * position + 1]))
  }

  struct Layout {
    let entries: [Range<Int>]
    /// The range of each erasable part; empty if the entry has no part, or the part has a row of its own.
    let erasables: [Range<Int>]
    /// `true` for each erasable part that has a row of its own.
    let outOfLine: [Bool]

    /// Reads the lengths: the bytes ``lengthsRange`` of a row.
    init?(_ lengths: [UInt8]) {
      guard lengths.count == lengthsByteCount else { return nil }
      var offset = headerByteCount
      entries = (0..<entryCount).map { position in
        let start = offset
        offset += Int(lengths.bigEndian(at: 2 * position) as UInt16)
        return start..<offset
      }
      let parts = (entryCount..<2 * entryCount).map { lengths.bigEndian(at: 2 * $0) as UInt16 }
      outOfLine = parts.map { $0 == outOfLineLength }
      erasables = parts.map { length in
        let start = offset
        offset += length == outOfLineLength ? 0 : Int(length)
        return start..<offset
      }
    }

    /// Reads the lengths of a whole row; `nil` if it does not have the length that they make up.
    init?(row: [UInt8]) {
      guard row.count >= headerByteCount, let layout = Layout(Array(row[lengthsRange])),
        layout.byteCount == row.count
      else { return nil }
      self = layout
    }

    private var byteCount: Int { erasables.last?.upperBound ?? headerByteCount }
  }
}

/// A row of `tail`: one entry that is not in a bundle yet.
///
///     1 byte           1 if the erasable part has a row of its own, else 0
///     4 bytes          the length of the entry, big endian
///     32 bytes         its leaf hash
///     entry, then erasable part
package enum TailRow {
  package static let entryOffset = 5 + TreeHash.byteCount

  static func encode(_ stored: StoredEntry) -> [UInt8] {
    var row: [UInt8] = [stored.isOutOfLine ? 1 : 0]
    row.reserveCapacity(entryOffset + stored.entry.count + stored.erasable.count)
    row.append(bigEndian: UInt32(stored.entry.count))
    TreeHash.leaf(stored.entry).append(to: &row)
    row += stored.entry
    row += stored.erasable
    return row
  }

  /// Decodes the entry, which must be compared with the stored hash; `nil` if the row does not have this form.
  static func decode(_ row: [UInt8]) -> StoredEntry? {
    guard row.count >= entryOffset, row[0] <= 1 else { return nil }
    let length = Int(row.bigEndian(at: 1) as UInt32)
    guard length <= row.count - entryOffset else { return nil }
    let end = entryOffset + length
    let stored = StoredEntry(
      entry: Array(row[entryOffset..<end]), erasable: Array(row[end...]), isOutOfLine: row[0] == 1)
    // A bundle has 16 bits for each of the two lengths.
    guard length <= AuditEntry.maximumByteCount,
      stored.erasable.count <= (stored.isOutOfLine ? 0 : TrailLimits.inlineErasableByteCount)
    else { return nil }
    return stored
  }

  static func hash(_ row: [UInt8]) -> TreeHash? {
    row.count >= entryOffset ? TreeHash(row[5..<entryOffset]) : nil
  }
}
