// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct LogProofTests {
  let key: NoteSignerKey
  let hashes = leafHashes(300)
  let tiles: MemoryTiles

  init() throws {
    key = try signer("example.com/log")
    tiles = MemoryTiles(hashes)
  }

  func proof(_ index: UInt64, size: UInt64 = 300, extra: [UInt8]? = nil) throws -> LogProof {
    let root = try MerkleTree.root(size: size, reader: tiles)
    let checkpoint = try Checkpoint(origin: key.name, size: size, root: root).signed(by: key)
    return try LogProof(
      extra: extra, index: index,
      inclusionProof: MerkleTree.inclusionProof(index: index, size: size, reader: tiles),
      checkpoint: checkpoint)
  }

  @Test func `a proof is written, read and verified`() throws {
    for (index, size) in [(UInt64(0), UInt64(1)), (0, 300), (299, 300), (255, 256), (100, 257)] {
      for extra in [nil, Array("extra data".utf8)] {
        let proof = try proof(index, size: size, extra: extra)
        let read = try LogProof(parsing: proof.encoded)
        #expect(read == proof)
        #expect(read.extra == extra)
        let verified = try read.verify(entry: Array("\(index)".utf8), by: key.verifierKey)
        #expect(verified.index == index)
        #expect(verified.checkpoint.checkpoint.size == size)
      }
    }
    #expect(try LogProof(index: 0, inclusionProof: [], checkpoint: proof(0).checkpoint).extra == nil)
    #expect(try proof(0, extra: []).extra == nil)
  }

  @Test func `the file is spelled as the specification has it`() throws {
    let proof = try proof(1, size: 3, extra: [1, 2, 3])
    let lines = String(decoding: proof.encoded, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "c2sp.org/tlog-proof@v1")
    #expect(lines[1] == "extra AQID")
    #expect(lines[2] == "index 1")
    #expect(lines[3...4] == [hashes[0].base64[...], hashes[2].base64[...]])
    #expect(lines[5...6] == ["", "example.com/log"])
  }

  @Test func `another entry, key or origin is not proved`() throws {
    let proof = try proof(7)
    let error = #expect(throws: LogProofError.self) {
      try proof.verify(entry: Array("8".utf8), by: key.verifierKey)
    }
    guard case .inclusion(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.code == .rootMismatch)
    for other in [try signer("example.com/log", 2), try signer("example.com/other")] {
      let error = #expect(throws: LogProofError.self) {
        try proof.verify(entry: Array("7".utf8), by: other.verifierKey)
      }
      guard case .checkpoint(let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.code == .notSigned)
    }
  }

  @Test func `faults are named with their line`() throws {
    let hash = hashes[0].base64
    func fails(_ code: LogFormatError.Code, _ place: LogFormatError.Place, _ text: String) -> Bool {
      expectFormatError(code, place, text) { _ = try LogProof(parsing: $0) }
    }
    let header = "c2sp.org/tlog-proof@v1\n"
    #expect(fails(.truncated, .line(1), ""))
    #expect(fails(.unexpectedLine, .line(1), "c2sp.org/tlog-proof@v2\n"))
    #expect(fails(.truncated, .line(1), String(header.dropLast())))
    #expect(fails(.truncated, .line(2), header))
    #expect(fails(.unexpectedLine, .line(2), header + "indeks 1\n"))
    #expect(fails(.malformedBase64, .line(2), header + "extra \nindex 1\n"))
    #expect(fails(.malformedBase64, .line(2), header + "extra A\nindex 1\n"))
    #expect(fails(.unexpectedLine, .line(3), header + "extra AAAA\nextra AAAA\n"))
    #expect(fails(.malformedNumber, .line(2), header + "index 01\n"))
    #expect(fails(.malformedHash, .line(3), header + "index 1\n\(hash.dropLast())\n"))
    #expect(fails(.truncated, .line(4), header + "index 1\n\(hash)\n"))
    #expect(fails(.tooMany, .line(67), header + "index 1\n" + String(repeating: hash + "\n", count: 65)))
    #expect(
      fails(.malformedNumber, .line(6), header + "index 1\n\(hash)\n\norigin\nx\n\(hash)\n\n— a AAAAAAE=\n"))
    #expect(throws: LogFormatError.self) {
      try LogProof(index: 0, inclusionProof: Array(hashes[..<65]), checkpoint: proof(0).checkpoint)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `no mutation of a proof is accepted, but of the extra data`() throws {
    let proof = try proof(200, size: 260, extra: Array("extra".utf8))
    let entry = Array("200".utf8)
    let bytes = proof.encoded
    let extra = 23..<(23 + "extra ZXh0cmE=\n".utf8.count)
    var accepted = 0
    forEachMutation(of: bytes) { position, mutated in
      guard let parsed = try? LogProof(parsing: mutated) else { return }
      #expect(parsed.encoded == mutated)
      guard let verified = try? parsed.verify(entry: entry, by: key.verifierKey) else { return }
      accepted += 1
      #expect(extra.contains(position), "byte \(position)")
      #expect(verified.index == 200)
      #expect(verified.checkpoint.signed == proof.checkpoint)
    }
    #expect(accepted > 0)
  }
}
