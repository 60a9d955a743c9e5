// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// A source of a tree's hashes: a database, a directory, a server.
public protocol TileReader {
  /// Returns the hashes of a tile: at least `coordinates.width` of them. Further hashes are ignored.
  ///
  /// - Throws: Any error. It is passed on to the caller that requested the proof.
  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash]

  /// Returns the hashes of a tile, with the roots of its groups if the reader has them. The roots are trusted as much
  /// as the hashes. The default implementation returns the hashes only.
  func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile
}

extension TileReader {
  /// Returns the tile without the roots of its groups.
  public func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile {
    GroupedTile(hashes: try tile(coordinates))
  }
}

extension TileError: Error, CustomStringConvertible {
  /// The code, the tile, and the actual and expected numbers.
  public var description: String {
    switch code {
    case .tooShort:
      "\(code.rawValue): \(coordinates.path) holds \(found) of \(coordinates.width) hashes"
    case .wrongLength:
      "\(code.rawValue): \(coordinates.path) is \(found) bytes, not \(coordinates.width * TreeHash.byteCount)"
    }
  }
}

extension TileReader {
  /// The nodes of a tile. They are hashed immediately if the tile is partial or its group roots are not known.
  func nodes(_ coordinates: TileCoordinates) throws -> TileNodes {
    let tile = try groupedTile(coordinates)
    let hashes = Array(try coordinates.hashes(of: tile.hashes))
    guard hashes.count == TileCoordinates.fullWidth, tile.groupRoots.count == GroupedTile.groupCount else {
      return TileNodes(hashes)
    }
    return TileNodes(hashes, groupRoots: tile.groupRoots)
  }
}

extension TileCoordinates {
  /// The first ``width`` hashes of a tile, which must have as many.
  func hashes(of tile: [TreeHash]) throws(TileError) -> ArraySlice<TreeHash> {
    guard tile.count >= width else { throw TileError(code: .tooShort, coordinates: self, found: tile.count) }
    return tile.prefix(width)
  }

  /// Encodes the hashes of a tile in the format that logs serve: one after the other.
  public static func encode(_ hashes: some Collection<TreeHash>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hashes.count * TreeHash.byteCount)
    for hash in hashes { hash.append(to: &bytes) }
    return bytes
  }

  /// Decodes the hashes of this tile from the format that logs serve.
  ///
  /// - Throws: ``TileError/Code/wrongLength`` if the bytes are not exactly `width` hashes.
  public func decode(_ bytes: [UInt8]) throws(TileError) -> [TreeHash] {
    guard bytes.count == width * TreeHash.byteCount else {
      throw TileError(code: .wrongLength, coordinates: self, found: bytes.count)
    }
    return (0..<width).compactMap {
      TreeHash(bytes[($0 * TreeHash.byteCount)..<(($0 + 1) * TreeHash.byteCount)])
    }
  }
}

extension GroupedTile {
  package static let groupWidth = 32
  package static let groupCount = TileCoordinates.fullWidth / groupWidth

  package static func groupRoots(of hashes: [TreeHash]) -> [TreeHash] {
    (0..<hashes.count / groupWidth).map {
      TreeHash.root(ofComplete: hashes[$0 * groupWidth..<($0 + 1) * groupWidth])
    }
  }
}
