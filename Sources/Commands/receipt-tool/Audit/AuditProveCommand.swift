// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
internal import ReceiptCrypto
import TransparencyLog

extension AuditProveCommand {
  func validate() throws {
    try refuse(["--json": output.json, "--overwrite": overwrites], unless: path != nil, "needs -o FILE")
  }

  func run() throws {
    let location = options.location
    let proof = try proof(location)
    guard let path else { return try writeAll(proof.encoded) }
    try NewFile.write(proof.encoded, to: path, overwriting: overwrites)
    let checkpoint = proof.checkpoint.unverifiedCheckpoint
    try output.write(
      Output.AuditProof(
        proof: path, index: index, origin: checkpoint.origin, treeSize: checkpoint.size,
        rootHash: checkpoint.root.hexadecimal),
      "\(path)  entry \(index) of the \(checkpoint.size) of \(checkpoint.origin)")
  }

  private func proof(_ location: TrailLocation) throws -> LogProof {
    let verifier = try location.verifierKey()
    // The key is needed only if the checkpoint does not include the entry.
    let log = try location.open(writing: false)
    do {
      let isCovered = try log.withView { view in
        // Throws if the entry does not exist.
        _ = try view.entry(at: index)
        return view.checkpoint.map { index < $0.checkpoint.size } ?? false
      }
      if isCovered {
        let proof = try log.withView { try $0.proof(of: index) }
        try log.close()
        return proof
      }
      try log.close()
      guard try location.signer(named: verifier.name) != nil else {
        throw ToolExit.failure(
          .invalid,
          "entry \(index) is newer than the last checkpoint, and there is no private key to sign another with"
        )
      }
      let signing = try location.open(writing: true)
      try signing.publishCheckpoint()
      let proof = try signing.withView { try $0.proof(of: index) }
      try signing.close()
      return proof
    } catch {
      throw ToolExit.failure(for: error, location.name)
    }
  }
}
