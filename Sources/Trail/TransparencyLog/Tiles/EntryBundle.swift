// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The entries of a level 0 tile in the format that logs serve (C2SP tlog-tiles).
///
/// Each entry follows its length in two bytes, big-endian.
///
///     00 05 h e l l o  00 02 h i
public struct EntryBundle: Sendable, Hashable {
  package static let maximumEntryByteCount = 65_535
  package static let maximumCount = TileCoordinates.fullWidth

  /// The entries, 1 to 256.
  public let entries: [[UInt8]]

  /// Creates a bundle.
  ///
  /// - Throws: ``LogFormatError``: `wrongCount` if there are no entries or more than 256, `entryTooLong`.
  public init(_ entries: [[UInt8]]) throws(LogFormatError) {
    guard (1...Self.maximumCount).contains(entries.count) else {
      throw LogFormatError(.wrongCount, .none, "a bundle has 1 to 256 entries, not \(entries.count)")
    }
    for (index, entry) in entries.enumerated() where entry.count > Self.maximumEntryByteCount {
      throw LogFormatError(
        .entryTooLong, .none, "entry \(index) of the bundle has \(entry.count) bytes; at most 65,535 fit")
    }
    self.entries = entries
  }

  /// Parses a bundle of `width` entries; if `nil`, of any number from 1 to 256. Throws ``LogFormatError``, with the
  /// offset in bytes: `truncated`, `wrongCount`.
  package init(parsing bytes: [UInt8], width: Int? = nil) throws(LogFormatError) {
    var entries: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
      guard entries.count < Self.maximumCount else {
        throw LogFormatError(.wrongCount, .byte(position), "a bundle has at most 256 entries")
      }
      guard bytes.count - position >= 2 else {
        throw LogFormatError(.truncated, .byte(position), "the bundle ends within a length")
      }
      let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
      guard bytes.count - position - 2 >= length else {
        throw LogFormatError(
          .truncated, .byte(position), "the bundle ends within an entry of \(length) bytes")
      }
      entries.append(Array(bytes[(position + 2)..<(position + 2 + length)]))
      position += 2 + length
    }
    guard !entries.isEmpty, width == nil || entries.count == width else {
      throw LogFormatError(
        .wrongCount, .byte(position),
        "the bundle has \(entries.count) entries, not \(width.map { "\($0)" } ?? "1 to 256")")
    }
    self.entries = entries
  }

  /// The bundle as bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.reduce(0) { $0 + 2 + $1.count })
    for entry in entries {
      bytes += UInt16(truncatingIfNeeded: entry.count).bigEndianBytes
      bytes += entry
    }
    return bytes
  }
}
