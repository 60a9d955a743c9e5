// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct TransparencyLogExamples {
  private struct Damaged: Error {}

  /// A tree of at most one tile.
  private struct OneTile: TileReader {
    let hashes: [TreeHash]
    func tile(_ coordinates: TileCoordinates) -> [TreeHash] { hashes }
  }

  @Test func aLogOfTwoEntries() throws {
    let key = try NoteSignerKey.generate(name: "example.com/log")
    let tree = TreeHash.node(.leaf(Array("first".utf8)), .leaf(Array("second".utf8)))
    let checkpoint = try Checkpoint(origin: key.name, size: 2, root: tree).signed(by: key)
    print(String(decoding: checkpoint.encoded, as: UTF8.self))

    let proof = try LogProof(index: 1, inclusionProof: [.leaf(Array("first".utf8))], checkpoint: checkpoint)
    let file = proof.encoded  // a .tlog-proof

    let verified = try LogProof(parsing: file).verify(entry: Array("second".utf8), by: key.verifierKey)
    print(verified.index, "of", verified.checkpoint.checkpoint.size)  // 1 of 2

    let text = """
      example.com/log
      2
      OuW/pX/6dp2WNKhvOiYoaqaf1Q6gWF+AYfkCrV8DJ/c=

      — example.com/log\u{20}
      """
    #expect(String(decoding: checkpoint.encoded, as: UTF8.self).hasPrefix(text))
    #expect(verified.index == 1)
    #expect(verified.checkpoint.checkpoint.size == 2)
  }

  @Test func growing() throws {
    let storage = OneTile(hashes: (0..<255).map { TreeHash.leaf([$0]) })
    let (size, entry): (UInt64, [UInt8]) = (255, [255])
    var stored = TreeFrontier()
    for hash in storage.hashes { stored.append(hash) }
    let checkpoint = try Checkpoint(origin: "example.com/log", size: size, root: stored.root)
    var full: [(TileCoordinates, [TreeHash])] = []

    var frontier = try TreeFrontier(size: size, reader: storage)
    guard frontier.root == checkpoint.root else { throw Damaged() }
    frontier.append(.leaf(entry)) { coordinates, tile in full.append((coordinates, tile.hashes)) }

    #expect(full.map { $0.0.path } == ["tile/0/000"])
    #expect(full.map { $0.1 } == [storage.hashes + [.leaf(entry)]])
    #expect(frontier.size == 256)
  }
}
