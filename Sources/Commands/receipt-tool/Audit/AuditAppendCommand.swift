// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

struct AuditAppendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Append records from JSON lines.",
    discussion: """
      receipt-tool verify --audit TRAIL records this tool's verdicts. This command
      is for verdicts of other systems: each line is an object in the format of
      audit show --json. Only kind is required; time defaults to now; index,
      previous, commitment and erasable are set by the trail and ignored. Digests
      are in hexadecimal or base64. The erasable part has customer, and receiptData,
      the receipt in base64.

      A record with the same kind and id as an entry is not appended again, whatever
      its other members. Nor is a record without id with the same verdict on the
      same receipt under the same policy. The index of the existing entry is
      printed. Give an id to every record without a receipt that may be sent twice,
      or append with --resume, which derives ids from the input. After an
      interruption, run the command again with the same input, to which lines may
      have been added.

      EXAMPLES:
        echo '{"kind":"verdict","verdict":"valid","transactionId":"2000000001"}' | \\
          receipt-tool audit append verdicts.audit -
        receipt-tool audit append verdicts.audit ledger.jsonl \\
          --acknowledge checkpointed
        receipt-tool audit append verdicts.audit ledger.jsonl --resume
        receipt-tool audit append verdicts.audit ledger.jsonl \\
          --acknowledge witnessed --witnesses policy.txt

      EXIT CODES:
        0 all appended; 2 not now, or appended but not witnessed, try again; 64
        wrong command line; 66 an input or key cannot be used; 74 they could not be
        stored, or the output not written. Lines before an invalid one are appended.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup(title: "Witnesses") var witnesses: AuditWitnessOptions
  @OptionGroup var output: JSONOption

  @Option(
    "acknowledge",
    "When an entry is acknowledged: once it is on disk; once a signed checkpoint includes it; or once "
      + "enough witnesses have cosigned that checkpoint.", value: "durable|checkpointed|witnessed")
  var mode = "durable"

  @Flag(
    "resume", "Append a line with neither id nor receipt only once, even if the same input is given again.",
    discussion: "Its id is then derived from its number and all lines up to it.")
  var resume = false

  @Argument("JSON lines; - is standard input.", value: "path") var path: String

  func validate() throws {
    guard let mode = AcknowledgementMode(rawValue: mode) else {
      throw ValidationError("--acknowledge takes durable, checkpointed or witnessed.")
    }
    guard (mode == .witnessed) == (witnesses.policyFile != nil) else {
      throw ValidationError("--acknowledge witnessed and --witnesses FILE go together.")
    }
  }

  /// The maximum number of records that are stored together.
  private static let batchCount = 1024

  func run() async throws {
    FreedMemory.shareAmongThreads()
    try await options.write(options: witnesses.logOptions()) { log in
      let input: InputFile
      do { input = try InputFile(path) } catch { throw ToolExit.failure(for: error) }
      var splitter = LineSplitter(maximumLineLength: ReceiptLimits.standard.maximumByteCount)
      let progress = Progress("appended", "records")
      var (byteCount, lineNumber, appended) = (0, 0, UInt64(0))
      var batch: [AuditRecord] = []
      var inputDigest = SHA256Digest(of: [])
      while true {
        let piece = try input.read(atMost: 1 << 18)
        byteCount += piece.count
        for line in piece.isEmpty ? splitter.finish() : splitter.split(piece) {
          lineNumber += 1
          guard line.contains(where: { $0 > 0x20 }) else { continue }
          do throws(RecordInput.Failure) {
            var record = try RecordInput.record(line, now: SystemClock.now())
            if resume {
              inputDigest = SHA256Digest(of: inputDigest.bytes + line)
              identify(&record, lineNumber, inputDigest)
            }
            batch.append(record)
          } catch {
            try await append(&batch, to: log)
            throw ToolExit.failure(.unreadableInput, "\(path), line \(lineNumber): \(error.message)")
          }
          if batch.count == Self.batchCount {
            appended += UInt64(batch.count)
            try await append(&batch, to: log)
            progress.show(appended, share: input.byteCount.map { Double(byteCount) / Double(max($0, 1)) })
          }
        }
        if piece.isEmpty { break }
        // A producer that writes line by line gets the result of each line before it writes the next.
        if !input.hasMoreNow {
          appended += UInt64(batch.count)
          try await append(&batch, to: log)
        }
      }
      appended += UInt64(batch.count)
      try await append(&batch, to: log)
      progress.show(appended, of: appended)
      progress.finish()
    }
  }

  /// Gives an identifier to a record that has neither an identifier nor a receipt.
  private func identify(_ record: inout AuditRecord, _ lineNumber: Int, _ input: SHA256Digest) {
    guard record.facts.id == nil, record.facts.receipt == nil else { return }
    record.facts.id = "line \(lineNumber) of \(input.hexadecimal)"
  }

  private func append(_ batch: inout [AuditRecord], to log: AuditLog) async throws {
    guard !batch.isEmpty else { return }
    let acknowledgements = try await log.append(
      batch, acknowledgement: AcknowledgementMode(rawValue: mode) ?? .durable)
    batch = []
    var text: [UInt8] = []
    for acknowledgement in acknowledgements {
      let (index, isRepeat) = (acknowledgement.index, acknowledgement.isRepeat)
      text +=
        output.json
        ? Output.AuditAcknowledgement(index: index, repeated: isRepeat).line()
        : Array("entry \(index)\(isRepeat ? "  (was there)" : "")\n".utf8)
    }
    try writeAll(text)
  }
}
