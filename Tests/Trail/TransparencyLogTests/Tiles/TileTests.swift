// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct TileTests {
  @Test(arguments: [
    (0, 0, 256, "000"), (0, 1, 1, "001.p/1"), (1, 999, 255, "999.p/255"), (2, 1000, 256, "x001/000"),
    (0, 1_234_067, 256, "x001/x234/067"), (0, 1_234_067, 12, "x001/x234/067.p/12"),
    (63, UInt64.max, 256, "x018/x446/x744/x073/x709/x551/615"),
  ])
  func `paths are those of the specification`(level: Int, number: UInt64, width: Int, path: String) throws {
    let tile = try #require(TileCoordinates(level: level, number: number, width: width))
    #expect(tile.path == "tile/\(level)/\(path)")
    #expect(tile.entryBundlePath == "tile/entries/\(path)")
    #expect(TileCoordinates(path: tile.path) == tile)
    let bundle = try #require(TileCoordinates(entryBundlePath: tile.entryBundlePath))
    #expect(bundle.number == number)
    #expect(bundle.width == width)
  }

  @Test(arguments: [
    "", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/1000",
    "tile/00/000",
    "tile/64/000", "tile/-1/000", "tile/+1/000", "tile/0/x000/000", "tile/0/x001", "tile/0/001/000",
    "tile/0/x001/x000", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/",
    "tile/0/000.p",
    "tile/0/000.p/1/", "tile/0/000/1", "tile/0/x001.p/000", "tile/0/000.p/1.p/1", "/tile/0/000",
    "tile/0/000 ",
    "tile/0/000\n", "tile/0/x018/x446/x744/x073/x709/x551/616", "tile/0/x1/000", "tile/0/x+01/000",
    "tile//000",
    "tile/0/x999/x999/x999/x999/x999/x999/x999/999", "tile/entries/000", "tile/0/\u{660}00",
  ])
  func `other paths are refused`(path: String) {
    #expect(TileCoordinates(path: path) == nil)
    #expect(
      TileCoordinates(entryBundlePath: path.replacing("tile/0", with: "tile/entries")) == nil
        || path == "tile/entries/000")
  }

  @Test func `levels and widths have their bounds`() {
    #expect(TileCoordinates(level: -1, number: 0) == nil)
    #expect(TileCoordinates(level: 64, number: 0) == nil)
    #expect(TileCoordinates(level: 0, number: 0, width: 0) == nil)
    #expect(TileCoordinates(level: 0, number: 0, width: 257) == nil)
  }

  @Test func `a tree of 70,000 entries has the tiles that the specification counts`() throws {
    func width(_ level: Int, _ number: UInt64) -> Int? {
      TileCoordinates(level: level, number: number, inTreeOfSize: 70_000)?.width
    }
    #expect(width(0, 272) == 256)
    #expect(width(0, 273) == 112)
    #expect(width(0, 274) == nil)
    #expect(width(1, 0) == 256)
    #expect(width(1, 1) == 17)
    #expect(width(2, 0) == 1)
    #expect(width(3, 0) == nil)
    #expect(width(8, 0) == nil)
    let paths = TileCoordinates.partialTiles(ofTreeOfSize: 70_000).map(\.path)
    #expect(paths == ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"])
    #expect(TileCoordinates.partialTiles(ofTreeOfSize: 256).map(\.path) == ["tile/1/000.p/1"])
    #expect(TileCoordinates.partialTiles(ofTreeOfSize: 0).isEmpty)
    #expect(TileCoordinates.partialTiles(ofTreeOfSize: .max).count == 8)
    #expect(TileCoordinates(level: 7, number: 0, inTreeOfSize: .max)?.width == 255)
    #expect(TileCoordinates(level: 0, number: .max, inTreeOfSize: .max) == nil)
  }

  @Test func `growth reports each full tile once`() {
    var frontier = TreeFrontier()
    var completed: [String] = []
    let hashes = leafHashes(65_537)
    for hash in hashes {
      frontier.append(hash) { coordinates, tile in
        completed.append(coordinates.path)
        #expect(tile.hashes.count == 256)
        #expect(tile.groupRoots == GroupedTile.groupRoots(of: tile.hashes))
      }
    }
    #expect(completed.count == 257)
    #expect(completed.last == "tile/1/000")
    #expect(completed.dropLast().last == "tile/0/255")
    #expect(frontier.partialTile(level: 0) == [hashes[65_536]])
    #expect(frontier.partialTile(level: 1) == [])
    #expect(frontier.partialTile(level: 2).count == 1)
    #expect(frontier.partialTile(level: 3) == [])
    #expect(frontier.partialTile(level: -1) == [])
  }

  @Test func `a copy of the right edge goes back`() {
    var frontier = TreeFrontier()
    for hash in leafHashes(300) { frontier.append(hash) }
    let copy = frontier
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      for hash in leafHashes(300) { try frontier.append(hash) { _, _ in throw Refused() } }
    }
    #expect(frontier.size == 512)
    frontier = copy
    #expect(frontier.size == 300)
    #expect(frontier.root == NaiveTree(leafHashes(300)[...]).root)
  }

  @Test func `a tile's bytes are its hashes`() throws {
    let hashes = leafHashes(5)
    let tile = try #require(TileCoordinates(level: 0, number: 0, width: 5))
    let bytes = TileCoordinates.encode(hashes)
    #expect(bytes == hashes.flatMap(\.bytes))
    #expect(try tile.decode(bytes) == hashes)
    for wrong in [[], Array(bytes.dropLast()), bytes + [0], bytes + bytes] {
      let error = #expect(throws: TileError.self) { try tile.decode(wrong) }
      #expect(error == TileError(code: .wrongLength, coordinates: tile, found: wrong.count))
    }
  }
}
