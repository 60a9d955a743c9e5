// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

extension AuditAppendCommand {
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
