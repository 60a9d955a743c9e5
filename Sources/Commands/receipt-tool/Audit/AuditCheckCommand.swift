// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
internal import ReceiptCrypto
import TransparencyLog

extension AuditCheckCommand {
  func validate() throws {
    guard !paths.isEmpty else { throw ValidationError("Name at least one proof.") }
    guard (key == nil) != (policy == nil) else { throw ValidationError("Give --key or --policy.") }
    try refuse(["--keys": keys != nil], unless: key != nil, "needs --key, the key that is trusted")
  }

  func run() throws {
    let verify = try verification()
    let digests = try receipt.map {
      ReceiptDigests(of: ReceiptInputText.stripped(try InputFile.contents(of: $0)))
    }
    var proven: [ProvenEntry] = []
    var isFailed = false
    for path in paths {
      let bytes = try InputFile.contents(of: path)
      let verified: VerifiedProof
      let entry: AuditEntry
      do {
        let proof = try LogProof(parsing: bytes)
        guard let entryBytes = proof.extra else {
          throw NotProven(message: "The proof does not hold the entry.")
        }
        verified = try verify(proof, entryBytes)
        entry = try AuditEntry(parsing: entryBytes)
        if let digests, !digests.areNamed(in: entry.facts) {
          throw NotProven(
            message: "The entry is in the trail, but it is about another receipt than the one given.")
        }
      } catch  where error.isFailureToCheckNote {
        throw ToolExit.failure(.internalFault, "\(GivenValue.described(path)): \(error)")
      } catch {
        isFailed = true
        try reportFailure(path, error)
        continue
      }
      proven.append(ProvenEntry(index: verified.index, entry: entry))
      try report(path, verified, entry)
    }
    if isFailed { throw ExitCode.invalid }
    if complete { try checkCompleteness(proven) }
  }

  private func verification() throws -> (LogProof, [UInt8]) throws -> VerifiedProof {
    if let key {
      let chain = try keyChain(TrailLocation.verifierKey(key))
      return { proof, entry in try chain.verify(proof, entry: entry) }
    }
    let file = policy ?? ""
    let text = try InputFile.contents(of: file)
    let policy = try ToolExit.reading(orElse: "\(GivenValue.described(file)) is no policy") {
      try WitnessPolicy(parsing: text)
    }
    return { proof, entry in try proof.verify(entry: entry, policy: policy) }
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

  private func report(_ path: String, _ verified: VerifiedProof, _ entry: AuditEntry) throws {
    let report = EntryReport(index: verified.index, entry: entry)
    let checkpoint = verified.checkpoint.checkpoint
    try output.write(
      Output.AuditCheck(
        source: path, proven: true, origin: checkpoint.origin, treeSize: checkpoint.size,
        rootHash: checkpoint.root.hexadecimal, entry: report),
      "PROVEN  \(path)  in \(checkpoint.origin), which had \(checkpoint.size) entries")
    if !output.json { try writeAll(output.colors.painted(report.text())) }
  }

  private func reportFailure(_ path: String, _ error: any Error) throws {
    let message = (error as? NotProven)?.message ?? String(describing: error)
    try output.write(
      Output.AuditCheck(source: path, proven: false, message: message), "NOT PROVEN  \(path)  \(message)")
  }

  private struct NotProven: Error {
    let message: String
  }
}
