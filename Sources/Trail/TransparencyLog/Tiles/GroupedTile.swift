// SPDX-License-Identifier: Apache-2.0

/// The hashes of a tile, with the roots of the complete subtrees over each 32 of them.
///
/// If these roots are stored too, a proof from a full tile computes about thirty hashes instead of two hundred and
/// fifty.
public struct GroupedTile: Sendable, Hashable {
  /// The number of hashes in a group.
  package static let groupWidth = 32
  /// The number of groups in a full tile.
  package static let groupCount = TileCoordinates.fullWidth / groupWidth

  /// The hashes of the tile.
  public let hashes: [TreeHash]
  /// The root of each full group, in order; empty if they are not known.
  package let groupRoots: [TreeHash]

  /// Creates a tile.
  ///
  /// - Parameters:
  ///   - hashes: The hashes of the tile.
  ///   - groupRoots: The root of each full group, if they are known.
  package init(hashes: [TreeHash], groupRoots: [TreeHash] = []) {
    self.hashes = hashes
    self.groupRoots = groupRoots
  }

  /// Computes the roots of the full groups of a tile.
  package static func groupRoots(of hashes: [TreeHash]) -> [TreeHash] {
    (0..<hashes.count / groupWidth).map {
      TreeHash.root(ofComplete: hashes[$0 * groupWidth..<($0 + 1) * groupWidth])
    }
  }
}
