// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptCodec
import ReceiptCrypto
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
    let covered = try location.withLog { log in
      try log.withView { view in
        // Throws if the entry does not exist.
        _ = try view.entry(at: index)
        let isCovered = view.checkpoint.map { index < $0.checkpoint.size } ?? false
        return isCovered ? try view.proof(of: index) : nil
      }
    }
    if let covered { return covered }
    // The key is needed only if the checkpoint does not include the entry.
    guard try location.signer(named: location.verifierKey().name) != nil else {
      throw ToolExit.failure(
        .invalid,
        "entry \(index) is newer than the last checkpoint, and there is no private key to sign another with")
    }
    return try location.withLog(writing: true) { log in
      try log.publishCheckpoint()
      return try log.withView { try $0.proof(of: index) }
    }
  }
}

extension AuditCheckCommand {
  func validate() throws {
    guard !paths.isEmpty else { throw ValidationError("Name at least one proof.") }
    guard (key == nil) != (policy == nil) else { throw ValidationError("Give --key or --policy.") }
    try refuse(["--keys": keys != nil], unless: key != nil, "needs --key, the key that is trusted")
  }

  func run() throws {
    let digests = try receipt.map {
      ReceiptDigests(of: ReceiptInputText.stripped(try InputFile.contents(of: $0)))
    }
    let check = ProofCheck(try trust(), receipt: digests)
    var proven: [ProvenEntry] = []
    var isFailed = false
    for path in paths {
      let bytes = try InputFile.contents(of: path)
      do {
        let result = try check.check(bytes)
        proven.append(ProvenEntry(index: result.proof.index, entry: result.entry))
        try report(path, result)
      } catch let error as ExitCode {
        throw error
      } catch  where error.isFailureToCheckNote {
        throw ToolExit.failure(.internalFault, "\(GivenValue.described(path)): \(error)")
      } catch {
        isFailed = true
        try reportFailure(path, error)
      }
    }
    if isFailed { throw ExitCode.invalid }
    if complete { try checkCompleteness(proven) }
  }

  private func trust() throws -> ProofCheck.Trust {
    if let key { return .keys(try keyChain(TrailLocation.verifierKey(key))) }
    let file = policy ?? ""
    let text = try InputFile.contents(of: file)
    return .policy(
      try ToolExit.reading(orElse: "\(GivenValue.described(file)) is no policy") {
        try WitnessPolicy(parsing: text)
      })
  }

  private func keyChain(_ first: NoteVerifierKey) throws -> KeyChain {
    guard let keys else { return KeyChain(first) }
    do {
      return try KeyChain(first, parsing: InputFile.contents(of: keys))
    } catch let error as LogFormatError {
      throw ToolExit.failure(
        .unreadableInput, "\(GivenValue.described(keys)) is no file of replaced keys: \(error)")
    }
  }

  private func checkCompleteness(_ proven: [ProvenEntry]) throws {
    let history: CompleteHistory
    do throws(IncompleteHistory) { history = try CompleteHistory(proven) } catch {
      throw ToolExit.failure(.invalid, "not complete: \(error)")
    }
    let (count, original, size) = (history.entries.count, history.original, history.size)
    try output.write(
      Output.AuditCompleteness(
        complete: true, originalTransactionId: original, entries: UInt64(count), treeSize: size),
      "COMPLETE  the \(count) entries of original transaction \(original) among the first \(size) of the trail"
    )
  }

  private func report(_ path: String, _ proven: ProofCheck.Proven) throws {
    let report = EntryReport(index: proven.proof.index, entry: proven.entry)
    let checkpoint = proven.proof.checkpoint.checkpoint
    try output.write(
      Output.AuditCheck(
        source: path, proven: true, origin: checkpoint.origin, treeSize: checkpoint.size,
        rootHash: checkpoint.root.hexadecimal, entry: report),
      "PROVEN  \(path)  in \(checkpoint.origin), which had \(checkpoint.size) entries")
    if !output.json { try writeAll(output.colors.painted(report.text())) }
  }

  private func reportFailure(_ path: String, _ error: any Error) throws {
    let message = String(describing: error)
    try output.write(
      Output.AuditCheck(source: path, proven: false, message: message), "NOT PROVEN  \(path)  \(message)")
  }
}

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
