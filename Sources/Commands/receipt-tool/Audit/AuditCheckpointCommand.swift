// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
internal import ReceiptCrypto
import TransparencyLog

extension AuditCheckpointCommand {
  func validate() throws {
    guard !last || witnesses.policyFile == nil else {
      throw ValidationError(
        "--last only prints a checkpoint; --witnesses has a new one cosigned. Give one of them.")
    }
  }

  func run() async throws {
    let checkpoint: VerifiedCheckpoint?
    if last {
      checkpoint = try options.read { $0.checkpoint }
    } else if witnesses.policyFile != nil {
      checkpoint = try await options.write(options: witnesses.logOptions()) { log in
        let round = try await log.askWitnesses()
        for refusal in round.refusals { note("receipt-tool: not cosigned by \(refusal)") }
        return try round.cosigned.get()
      }
    } else {
      checkpoint = try await options.write { log in try log.publishCheckpoint() }
    }
    guard let checkpoint else { throw ToolExit.failure(.invalid, "no checkpoint was signed yet") }
    guard output.json else { return try writeAll(checkpoint.signed.encoded) }
    let cosignatures = checkpoint.cosignatures.map {
      Output.Cosignature(
        witness: $0.key.name, time: Timestamp(secondsSince1970: Int64(clamping: $0.timestamp)))
    }
    try output.write(
      Output.AuditCheckpoint(
        origin: checkpoint.checkpoint.origin, treeSize: checkpoint.checkpoint.size,
        rootHash: checkpoint.checkpoint.root.hexadecimal,
        note: String(decoding: checkpoint.signed.encoded, as: UTF8.self),
        cosignatures: witnesses.policyFile == nil ? nil : cosignatures))
  }
}
