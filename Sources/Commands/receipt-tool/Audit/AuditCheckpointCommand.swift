// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
internal import ReceiptCrypto
import TransparencyLog

struct AuditCheckpointCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Sign the current state of the trail and print it: a checkpoint to keep or to publish.",
    discussion: """
      A checkpoint shows later whether anything before it was changed. It is a
      signed note (C2SP tlog-checkpoint) of the trail's name, the number of entries
      and the root.

      With --witnesses the witnesses in the policy are asked to cosign it (C2SP
      tlog-witness), and the cosigned checkpoint is stored as the trail's last one.
      Refusals and their reasons are written to standard error.

      EXAMPLES:
        receipt-tool audit checkpoint verdicts.audit > 2025-10-01.checkpoint
        # without the private key
        receipt-tool audit checkpoint verdicts.audit --last
        receipt-tool audit checkpoint verdicts.audit --witnesses policy.txt

      EXIT CODES:
        0 printed; 1 the trail contradicts its last checkpoint; 2 too few witnesses
        cosigned, try again; 64 wrong command line; 66 the trail or key cannot be
        used; 74 it could not be stored, or the output not written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup(title: "Witnesses") var witnesses: AuditWitnessOptions
  @OptionGroup var output: JSONOption

  @Flag("last", "Print the last checkpoint without signing a new one.") var last = false

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
