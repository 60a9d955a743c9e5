// SPDX-License-Identifier: Apache-2.0

/// The hashes of a tile with the roots of the complete subtrees over each ``groupWidth`` of them.
///
/// Where these are stored too, a proof from a full tile takes some thirty hashes instead of two hundred and fifty.
public struct GroupedTile: Sendable, Hashable {
  /// The number of hashes of a tile that make a group.
  public static let groupWidth = 32
  /// The number of groups a full tile has.
  public static let groupCount = TileCoordinates.fullWidth / groupWidth

  /// The hashes of the tile.
  public let hashes: [TreeHash]
  /// The root of each full group, in order; empty if they are not known.
  public let groupRoots: [TreeHash]

  /// Puts a tile together.
  ///
  /// - Parameters:
  ///   - hashes: The hashes of the tile.
  ///   - groupRoots: The root of each full group, if they are known.
  public init(hashes: [TreeHash], groupRoots: [TreeHash] = []) {
    self.hashes = hashes
    self.groupRoots = groupRoots
  }

  /// The roots of the full groups of a tile, hashed again.
  package static func groupRoots(of hashes: [TreeHash]) -> [TreeHash] {
    (0..<hashes.count / groupWidth).map {
      TreeHash.root(ofComplete: hashes[$0 * groupWidth..<($0 + 1) * groupWidth])
    }
  }
}
