// SPDX-License-Identifier: Apache-2.0

/// A source of the hashes of a tree: a database, a directory, a server.
public protocol TileReader {
  /// The hashes of a tile: at least `coordinates.width` of them; more are not looked at.
  ///
  /// - Throws: Any error; it is passed on to the caller that asked for the proof.
  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash]

  /// The same with the roots of its groups, where the reader has them; they are believed as the hashes are.
  ///
  /// Without an implementation of its own, a reader gives the tile alone.
  func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile
}

extension TileReader {
  /// The tile, without the roots of its groups.
  public func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile {
    GroupedTile(hashes: try tile(coordinates))
  }
}

/// A tile that is not what it should be.
public struct TileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The tile holds fewer hashes than its coordinates say.
    case tooShort = "tile-too-short"
    /// The bytes of a tile are not as many hashes as its coordinates say.
    case wrongLength = "tile-wrong-length"
  }

  /// The kind of fault.
  public let code: Code
  /// Which tile.
  public let coordinates: TileCoordinates
  /// The number of hashes (of bytes, for ``Code/wrongLength``) that was found.
  public let found: Int

  /// Creates an error.
  public init(code: Code, coordinates: TileCoordinates, found: Int) {
    self.code = code
    self.coordinates = coordinates
    self.found = found
  }

  /// The code, the tile and both numbers.
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
  /// The first `coordinates.width` hashes, checked to be as many.
  func hashes(_ coordinates: TileCoordinates) throws -> ArraySlice<TreeHash> {
    try coordinates.hashes(of: try tile(coordinates))
  }

  /// The nodes of a tile: those of a partial tile, or of one whose groups are not known, are hashed at once.
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
  /// As many of the hashes as the tile has.
  fileprivate func hashes(of tile: [TreeHash]) throws(TileError) -> ArraySlice<TreeHash> {
    guard tile.count >= width else { throw TileError(code: .tooShort, coordinates: self, found: tile.count) }
    return tile.prefix(width)
  }

  /// The bytes of a tile as logs serve it: its hashes, one after the other.
  public static func encode(_ hashes: some Collection<TreeHash>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hashes.count * TreeHash.byteCount)
    for hash in hashes { hash.append(to: &bytes) }
    return bytes
  }

  /// The hashes of this tile from its bytes as logs serve it.
  ///
  /// - Throws: ``TileError/Code/wrongLength`` where they are not exactly `width` hashes.
  public func decode(_ bytes: [UInt8]) throws(TileError) -> [TreeHash] {
    guard bytes.count == width * TreeHash.byteCount else {
      throw TileError(code: .wrongLength, coordinates: self, found: bytes.count)
    }
    return (0..<width).compactMap {
      TreeHash(bytes[($0 * TreeHash.byteCount)..<(($0 + 1) * TreeHash.byteCount)])
    }
  }
}
