// SPDX-License-Identifier: Apache-2.0
// Keep a transparency log in a folder of static files that any C2SP tlog-tiles client can read, and prove what is in
// it. Usage: KeepALog FOLDER [COUNT]

import Foundation
import TransparencyLog

/// The files of a log, as a web server would serve them.
// snippet.reader
struct LogFolder: TileReader {
  let url: URL

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    // Once there is a full tile, its partial ones may be gone.
    if let bytes = try? Data(contentsOf: url.appending(path: coordinates.full.path)) {
      return try coordinates.full.decode([UInt8](bytes))
    }
    return try coordinates.decode([UInt8](Data(contentsOf: url.appending(path: coordinates.path))))
  }
}
// snippet.end

extension LogFolder {
  func write(_ bytes: [UInt8], _ path: String) throws {
    let file = url.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }
}

let arguments = CommandLine.arguments
let folder = LogFolder(url: URL(filePath: arguments.count > 1 ? arguments[1] : "log"))
let count = arguments.count > 2 ? UInt64(arguments[2]) ?? 0 : 1000

// snippet.keys
// The name of a log's key is the log's origin. Keep `try key.pem()` in a file that nobody else can read.
let key = try NoteSignerKey.generate(name: "example.com/log")
let witness = try NoteSignerKey.generate(name: "example.com/witness")
let policy = try WitnessPolicy(
  logs: [key.verifierKey], witnesses: [witness.cosignatureVerifierKey], threshold: 1)
// snippet.end
try folder.write(Array("\(key.verifierKey)\n".utf8), "log.vkey")
try folder.write(policy.encoded, "policy")

struct Log {
  let folder: LogFolder
  let key: NoteSignerKey
  let witness: WitnessRules
  var frontier = TreeFrontier()
  /// Those after the last full bundle.
  var entries: [[UInt8]] = []
  var latest: Checkpoint?

  mutating func append(_ entry: [UInt8]) throws {
    // snippet.append
    entries.append(entry)
    var full: [(TileCoordinates, [TreeHash])] = []
    frontier.append(.leaf(entry)) { full.append(($0, $1.hashes)) }
    for (tile, hashes) in full {
      try folder.write(TileCoordinates.encode(hashes), tile.path)
      if tile.level == 0 {
        try folder.write(EntryBundle(entries).encoded, tile.entryBundlePath)
        entries = []
      }
    }
    // snippet.end
  }

  /// Writes the partial tiles, and a checkpoint of what was appended, cosigned by the witness.
  mutating func publish() throws {
    for tile in TileCoordinates.partialTiles(ofTreeOfSize: frontier.size) {
      try folder.write(TileCoordinates.encode(frontier.partialTile(level: tile.level)), tile.path)
      if tile.level == 0 { try folder.write(EntryBundle(entries).encoded, tile.entryBundlePath) }
    }
    // snippet.publish
    let checkpoint = try Checkpoint(origin: key.name, size: frontier.size, root: frontier.root)
    var signed = try checkpoint.signed(by: key)
    let oldSize = latest?.size ?? 0
    let request = try AddCheckpointRequest(
      oldSize: oldSize,
      consistencyProof: MerkleTree.consistencyProof(from: oldSize, to: checkpoint.size, reader: folder),
      checkpoint: signed)
    // A witness elsewhere would be sent `request.encoded`.
    let now = UInt64(Date().timeIntervalSince1970)
    if case .cosign(_, let line) = try witness.decide(request, latest: latest, at: now) {
      signed = try signed.adding([line])
    }
    // snippet.end
    try folder.write(request.encoded, "requests/\(oldSize)-\(checkpoint.size)")
    try folder.write(signed.encoded, "checkpoints/\(checkpoint.size)")
    try folder.write(signed.encoded, "checkpoint")
    latest = checkpoint
  }
}

var log = Log(folder: folder, key: key, witness: WitnessRules(key: witness, logs: [key.verifierKey]))
for index in 0..<count {
  try log.append(Array("entry \(index)".utf8))
  if [1, 2, 3, 7, 255, 256, 257, 1000, count].contains(index + 1) { try log.publish() }
}

for index in [0, 1, 254, 255, 256, count / 2, count - 1] where index < count {
  // snippet.prove
  let checkpoint = try SignedCheckpoint(
    parsing: [UInt8](Data(contentsOf: folder.url.appending(path: "checkpoint"))))
  let proof = try LogProof(
    index: index,
    inclusionProof: MerkleTree.inclusionProof(
      index: index, size: checkpoint.unverifiedCheckpoint.size, reader: folder),
    checkpoint: checkpoint)
  // snippet.end
  try folder.write(proof.encoded, "proofs/\(index).tlog-proof")

  // snippet.verify
  // With the entry, the proof and the policy, checking needs neither the log nor a network.
  let verified = try LogProof(parsing: proof.encoded)
    .verify(entry: Array("entry \(index)".utf8), policy: policy)
  print("entry", verified.index, "of", verified.checkpoint.checkpoint.size, "is proved")
  // snippet.end
}
