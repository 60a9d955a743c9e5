// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

extension TrailState {
  /// Notes that the entries from here on are this writer's.
  mutating func noteWriter() {
    guard head.writer.writer != context.writer else { return }
    head.writer = TrailHead.WriterRun(writer: context.writer, from: head.size)
  }

  /// Appends entries of one bundle, in a transaction that began with `start` entries.
  mutating func enter(_ encoded: EncodedEntries, after start: UInt64, in writer: any StorageWriter) throws {
    for payload in encoded.payloads {
      try writer.put(.payloads, Int64(head.size) + Int64(payload.position), payload.erasable)
    }
    tail.append(contentsOf: encoded.stored)
    for leaf in encoded.leaves {
      try frontier.append(leaf) { coordinates, tile in
        if coordinates.level == 0 {
          try writer.put(.bundles, Int64(coordinates.number), BundleRow.encode(tile, tail))
        } else {
          try writer.put(.tiles, StoredTiles.key(coordinates), TileCoordinates.encode(tile.hashes))
        }
      }
    }
    let first = head.size
    index.withMemory { memory in
      memory.touch(.transaction, encoded.fingerprints.compactMap(\.transaction))
      for (number, fingerprints) in encoded.fingerprints.enumerated() {
        fingerprints.insert(into: &memory, at: first + UInt64(number))
      }
    }
    head.size += UInt64(encoded.count)
    head.lastTime = encoded.lastTime
    guard tail.count == BundleRow.entryCount else { return }
    let bundle = head.size - UInt64(BundleRow.entryCount)..<head.size
    // The table has rows for the entries that earlier transactions left in the tail.
    if bundle.lowerBound < start {
      try writer.remove(.tail, in: Int64(bundle.lowerBound)...Int64(head.size) - 1, erasing: false)
    }
    tail = BundleEntries()
  }

  /// Writes the entries of a transaction that ``enter(_:after:in:)`` left in memory.
  func writeTail(after start: UInt64, in writer: any StorageWriter) throws {
    for index in max(start, head.size & ~255)..<head.size {
      try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)]))
    }
  }

  /// Writes the index records that are only in memory as runs, if there are enough of them.
  mutating func flushIndex(
    every interval: UInt64 = TrailLimits.flushInterval, in writer: any StorageWriter
  ) throws {
    guard head.size & ~255 >= head.indexedSize + interval else { return }
    // Without keys, the index records of customers would be lost permanently.
    _ = try keysForWriting()
    // Only whole bundles, so that the set of records does not depend on when they were flushed.
    head.indexedSize = head.size & ~255
    try index.flush(upTo: head.indexedSize, in: WritableIndexRows(base: writer))
    head.indexRoot = index.root
    try writeHead(in: writer)
  }
}
