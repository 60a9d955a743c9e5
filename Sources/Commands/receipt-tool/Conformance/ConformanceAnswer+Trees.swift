// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

extension ConformanceAnswer {
  /// The root of a tree over records, and the proofs that the case asks for, each a text with a hash on each line.
  static func tree(_ input: JSONValue) throws -> JSONValue {
    guard let records = input["records"]?.array else { throw MalformedReceipt.missing("records") }
    var tiles = TilesInMemory()
    for record in records {
      tiles.append(.leaf(try JSONValue.members(("record", record)).base64("record")))
    }
    let size = input["size"] == nil ? UInt64(records.count) : try input.size("size")
    guard size <= records.count else { throw MalformedReceipt.missing("records") }
    let inclusion =
      input["index"] == nil
      ? nil : try MerkleTree.inclusionProof(index: input.size("index"), size: size, reader: tiles)
    let consistency =
      input["from"] == nil
      ? nil : try MerkleTree.consistencyProof(from: input.size("from"), to: size, reader: tiles)
    return .members(
      ("rootHash", .string(try MerkleTree.root(size: size, reader: tiles).base64)),
      ("inclusion", inclusion.map(lines)), ("consistency", consistency.map(lines)))
  }

  private static func lines(_ proof: [TreeHash]) -> JSONValue {
    .string(proof.map { $0.base64 + "\n" }.joined())
  }
}

/// The tiles of a growing tree.
private struct TilesInMemory: TileReader {
  private var edge = TreeFrontier()
  private var full: [TileCoordinates: GroupedTile] = [:]

  mutating func append(_ hash: TreeHash) { edge.append(hash) { full[$0] = $1 } }

  func tile(_ coordinates: TileCoordinates) -> [TreeHash] { groupedTile(coordinates).hashes }

  func groupedTile(_ coordinates: TileCoordinates) -> GroupedTile {
    full[coordinates.full] ?? GroupedTile(hashes: edge.partialTile(level: coordinates.level))
  }
}
