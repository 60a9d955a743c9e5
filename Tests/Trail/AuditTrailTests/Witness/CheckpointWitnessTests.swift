// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import ReceiptCodec
import ReceiptCrypto
import Testing
import TransparencyLog

@Suite("Being a witness", .timeLimit(.minutes(10)))
struct CheckpointWitnessTests {
  private let log: NoteSignerKey
  private let key: NoteSignerKey
  private let hashes = (0..<64).map { TreeHash.leaf([UInt8($0)]) }

  init() throws {
    log = try NoteSignerKey.generate(name: "example.com/log")
    key = try NoteSignerKey.generate(name: "witness.example/w")
  }

  private func witness(_ store: any CheckpointStore) -> CheckpointWitness {
    CheckpointWitness(
      key: key, logs: [CheckpointWitness.KnownLog(keys: [log.verifierKey], checkpoints: store)])
  }

  private func checkpoint(_ size: Int, by signer: NoteSignerKey? = nil) throws -> SignedCheckpoint {
    var frontier = TreeFrontier()
    for hash in hashes[..<size] { frontier.append(hash) }
    let signer = signer ?? log
    return try Checkpoint(origin: signer.name, size: UInt64(size), root: frontier.root).signed(by: signer)
  }

  private func request(_ old: Int, _ size: Int) throws -> [UInt8] {
    let proof = try MerkleTree.consistencyProof(
      from: UInt64(old), to: UInt64(size), reader: LeafTile(hashes: hashes))
    return try AddCheckpointRequest(
      oldSize: UInt64(old), consistencyProof: proof, checkpoint: checkpoint(size)
    ).encoded
  }

  private struct LeafTile: TileReader {
    let hashes: [TreeHash]
    func tile(_ coordinates: TileCoordinates) -> [TreeHash] { hashes }
  }

  @Test func cosignsWhatContinuesWhatItSaw() throws {
    let store = MemoryCheckpointStore()
    let witness = witness(store)
    for (old, size) in [(0, 5), (5, 5), (5, 33), (33, 64)] {
      let answer = witness.respond(to: try request(old, size))
      #expect(answer.response.status == 200)
      #expect(answer.reason == nil)
      let response = try AddCheckpointResponse(status: 200, body: answer.response.body)
      guard case .cosigned(let lines) = response else { throw AuditError(.tampered, "\(response)") }
      let cosigned = try checkpoint(size).adding(lines)
      #expect(try cosigned.cosignatures(by: [key.cosignatureVerifierKey]).count == 1)
      #expect(store.load() == cosigned.encoded)
    }
  }

  @Test func refusesAsTheProtocolSays() throws {
    let store = MemoryCheckpointStore()
    let witness = witness(store)
    #expect(witness.respond(to: try request(0, 10)).response.status == 200)
    let kept = store.load()
    let stranger = try NoteSignerKey.generate(name: "stranger.example")
    let impostor = try NoteSignerKey.generate(name: log.name)
    let plain = { (old: UInt64, checkpoint: SignedCheckpoint) in
      try AddCheckpointRequest(oldSize: old, consistencyProof: [], checkpoint: checkpoint).encoded
    }
    let conflict = WitnessResponse(
      status: 409, contentType: "text/x.tlog.size", body: Array("10\n".utf8))
    let cases: [([UInt8], WitnessResponse)] = [
      ([], WitnessResponse(status: 400)),
      (Array("old 10\n\n".utf8), WitnessResponse(status: 400)),
      ([UInt8](repeating: 0x6F, count: 2_000_000), WitnessResponse(status: 400)),
      (try plain(11, checkpoint(10)), WitnessResponse(status: 400)),
      (try plain(10, checkpoint(12, by: impostor)), WitnessResponse(status: 403)),
      (try plain(10, checkpoint(12, by: stranger)), WitnessResponse(status: 404)),
      (try request(0, 20), conflict), (try request(9, 20), conflict), (try request(5, 8), conflict),
      (try plain(10, checkpoint(20)), WitnessResponse(status: 422)),
      (
        try plain(10, Checkpoint(origin: log.name, size: 10, root: .leaf([9])).signed(by: log)),
        WitnessResponse(status: 422)
      ),
      (
        try Array("old 0\n\n".utf8)
          + SignedNote.sign(Array("\(log.name)\n0\n\(TreeHash.leaf([9]).base64)\n".utf8), by: [log]).encoded,
        WitnessResponse(status: 422)
      ),
    ]
    for (body, expected) in cases {
      let answer = witness.respond(to: body)
      #expect(answer.response == expected)
      #expect(answer.reason != nil)
      #expect(store.load() == kept)
    }
  }

  @Test func cosignsNothingWithAClockBefore1970() throws {
    for seconds in [-1_000_000_000.0, -0.5, 0, 0.9] {
      let store = MemoryCheckpointStore()
      let answer = CheckpointWitness(
        key: key, logs: [.init(keys: [log.verifierKey], checkpoints: store)],
        clock: { Timestamp(millisecondsSince1970: seconds * 1000) }
      ).respond(to: try request(0, 10))
      #expect(answer.response == WitnessResponse(status: 500))
      #expect(answer.reason?.contains("set the clock") == true)
      #expect(store.load() == nil)
    }
  }

  @Test func signsNothingWhereTheLastCheckpointCannotBeReadWrittenOrTrusted() throws {
    for broken: any CheckpointStore in [
      MemoryCheckpointStore([1, 2, 3]), MemoryCheckpointStore([]),
      MemoryCheckpointStore(try checkpoint(3, by: .generate(name: log.name)).encoded),
      MemoryCheckpointStore(try checkpoint(3, by: .generate(name: "other.example")).encoded),
      FileCheckpointStore(path: "/nonexistent/checkpoint"), LosingStore(failure: .syncFailed),
    ] {
      let answer = witness(broken).respond(to: try request(0, 4))
      #expect(answer.response == WitnessResponse(status: 500))
      #expect(answer.reason != nil)
    }
    #expect(witness(LosingStore(failure: nil)).respond(to: try request(0, 4)).response.status == 503)
    // An operator may put a checkpoint that the log signed there by hand, to begin from.
    let seeded = MemoryCheckpointStore(try checkpoint(3).encoded)
    #expect(witness(seeded).respond(to: try request(3, 4)).response.status == 200)
  }

  /// Of all that is cosigned, each must continue the one before; nothing goes back, and nothing is signed unkept.
  @Test(arguments: [false, true])
  func racingRequestsNeverMakeItGoBack(inFiles: Bool) async throws {
    let folder = try CheckpointFolder()
    let memory = MemoryCheckpointStore()
    let store: @Sendable () -> any CheckpointStore = {
      inFiles ? FileCheckpointStore(path: folder.path("log")) : memory
    }
    let sizes = try await withThrowingTaskGroup(of: [Int].self) { group in
      for thread in 0..<4 {
        // Each has stores of its own, as processes do.
        let witness = witness(store())
        group.addTask {
          var known = 0
          var cosigned: [Int] = []
          while known < 64 {
            let size = min(64, known + 1 + thread)
            let answer = witness.respond(to: try request(known, size))
            switch answer.response.status {
            case 200:
              cosigned.append(size)
              known = size
            case 409:
              let seen = try #require(
                Int(String(decoding: answer.response.body, as: UTF8.self).dropLast()))
              #expect(seen > known)
              known = seen
            default: throw AuditError(.notWitnessed, "\(answer)")
            }
          }
          return cosigned
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    // No size twice: of several that asked from one old size, one alone was served.
    #expect(Set(sizes).count == sizes.count)
    let last = try SignedCheckpoint(parsing: #require(try store().load()))
    #expect(last.unverifiedCheckpoint == (try checkpoint(64).unverifiedCheckpoint))
  }

  /// A store in which others are always faster, or which fails.
  private struct LosingStore: CheckpointStore {
    let failure: StorageError.Code?

    func load() -> [UInt8]? { nil }

    func replace(_ old: [UInt8]?, with new: [UInt8]) throws -> Bool {
      if let failure { throw StorageError(failure, "It cannot be synced.") }
      return false
    }
  }
}
