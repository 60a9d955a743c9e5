// SPDX-License-Identifier: Apache-2.0

/// Where the hashes of a tree come from: a database, a directory, a server.
public protocol TileReader {
  /// The hashes of a tile: at least `coordinates.width` of them; more are not looked at.
  ///
  /// - Throws: What the reader wants to; it reaches whoever asked for the proof as it is.
  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash]
}

/// A tile that is not what it should be.
public struct TileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The tile holds fewer hashes than its coordinates say.
    case tooShort = "tile-too-short"
    /// The bytes of a tile are not as many hashes as its coordinates say.
    case wrongLength = "tile-wrong-length"
  }

  /// What is wrong.
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
    let hashes = try tile(coordinates)
    guard hashes.count >= coordinates.width else {
      throw TileError(code: .tooShort, coordinates: coordinates, found: hashes.count)
    }
    return hashes.prefix(coordinates.width)
  }
}

extension TileCoordinates {
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
