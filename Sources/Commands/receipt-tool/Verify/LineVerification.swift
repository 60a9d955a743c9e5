// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptCodec
import ReceiptVerification

struct Verification: Sendable {
  let verifier: ReceiptVerifier
  let checkers: [any RemoteChecker]
  let recorder: VerdictRecorder?
  /// The instant at which subscriptions are evaluated; `nil` if the output must not depend on the clock.
  let instant: Timestamp?
}

/// Verifies a stream with one receipt a line on all cores, in constant memory, with results in input order.
struct LineVerification: Sendable {
  let means: Verification
  let source: String
  let output: VerdictOutput
  let colors: Colors
  let progress: Progress
  /// Indicates whether each line is a key, a tab and a receipt. See ``KeyedLine``.
  var isKeyed = false

  /// The batch size of one task: large enough to make the task switch cheap, small enough to bound memory.
  private static let linesInBatch = 64
  private static let bytesInBatch = 1 << 20

  private struct Outcome: Sendable {
    var output: [UInt8] = []
    var tally = VerdictTally()
  }

  /// - Throws: `AuditError` if a verdict could not be recorded; an exit code if a verdict could not be printed. In both
  ///   cases nothing more is read, recorded or printed, so that the output has no gaps. `ReadFailure`, or an exit code
  ///   for a line without a key, is thrown after printing the results of all lines before it.
  func run(_ input: borrowing InputFile, maximumLineLength: Int, _ tally: inout VerdictTally) async throws {
    var pending: [Task<Outcome, any Error>] = []
    do {
      try await run(input, maximumLineLength: maximumLineLength, &tally, &pending)
    } catch {
      // All tasks must end before the trail is closed.
      for task in pending { task.cancel() }
      for task in pending { _ = await task.result }
      throw error
    }
  }

  private func run(
    _ input: borrowing InputFile, maximumLineLength: Int, _ tally: inout VerdictTally,
    _ pending: inout [Task<Outcome, any Error>]
  ) async throws {
    var splitter = LineSplitter(
      maximumLineLength: maximumLineLength + (isKeyed ? KeyedLine.maximumKeyLength + 1 : 0))
    var byteCount = 0
    let inFlight = max(2, 2 * Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var batch: [[UInt8]] = []
    var keys: [String] = []
    var batchByteCount = 0
    var nextIndex = 0

    func submit() {
      guard !batch.isEmpty else { return }
      let (lines, lineKeys, firstIndex) = (batch, keys, nextIndex)
      nextIndex += lines.count
      batch = []
      keys = []
      batchByteCount = 0
      pending.append(Task { try await verifyBatch(lines, lineKeys, firstIndex: firstIndex) })
    }
    func writeFirstOutcome() async throws {
      let outcome = try await pending.removeFirst().value
      try writeAll(outcome.output)
      tally.add(outcome.tally)
      progress.show(tally.count, share: input.byteCount.map { Double(byteCount) / Double(max($0, 1)) })
    }

    var failure: ReadFailure?
    var hasLineWithoutKey = false
    var isFirst = true
    reading: while true {
      var piece: [UInt8] = []
      do throws(ReadFailure) { piece = try input.read(atMost: 1 << 18) } catch { failure = error }
      byteCount += piece.count
      // Ignore a line that the read failure truncated.
      let lines = !piece.isEmpty ? splitter.split(piece) : failure == nil ? splitter.finish() : []
      for line in lines {
        if isKeyed {
          // A byte order mark at the start of the input is not part of the first key.
          let line = isFirst ? ByteOrderMark.dropped(from: line) : line
          isFirst = false
          guard let keyed = KeyedLine(line) else {
            hasLineWithoutKey = true
            break reading
          }
          keys.append(keyed.key)
          batch.append(ReceiptInputText.stripped(keyed.receipt))
        } else {
          batch.append(ReceiptInputText.stripped(line))
        }
        batchByteCount += line.count
        if batch.count >= Self.linesInBatch || batchByteCount >= Self.bytesInBatch {
          submit()
          while pending.count >= inFlight { try await writeFirstOutcome() }
        }
      }
      if piece.isEmpty { break }
    }
    let lineCount = nextIndex + batch.count
    submit()
    while !pending.isEmpty { try await writeFirstOutcome() }
    progress.clear()
    if hasLineWithoutKey { throw KeyedLine.failure(source: source, index: lineCount) }
    if let failure { throw failure }
  }

  private func verifyBatch(_ lines: [[UInt8]], _ keys: [String], firstIndex: Int) async throws -> Outcome {
    var outcome = Outcome()
    let verdicts =
      means.checkers.isEmpty
      ? means.verifier.verifyTogether(lines[...])
      : await means.verifier.consult(
        means.checkers, about: means.verifier.verifyTogether(lines[...]), concurrently: true)
    // The cancellation of the task may have interrupted remote checks.
    try Task.checkCancellation()
    let recorded = try await means.recorder?.record(zip(verdicts, lines).map { ($0, $1) })
    for (offset, verified) in verdicts.enumerated() {
      let verdict = recorded?[offset].verdict ?? verified
      outcome.tally.count(verdict)
      var report = VerdictReport(
        source: source, index: firstIndex + offset, verdict: verdict, instant: means.instant)
      if isKeyed { report.key = keys[offset] }
      report.recorded = recorded?[offset].acknowledgement
      outcome.output += try report.line(output, colors)
    }
    return outcome
  }
}

/// A line of `--keyed` input: a key, a tab, and a receipt up to the end of the line.
struct KeyedLine {
  /// The maximum length of a key, in bytes of UTF-8.
  static let maximumKeyLength = 1024

  let key: String
  let receipt: [UInt8]

  /// Splits a line; `nil` if it does not begin with a key of 1 to ``maximumKeyLength`` bytes and a tab. A key with
  /// control characters is refused, and so is one that is not UTF-8: two different keys must never look the same in the
  /// output.
  init?(_ line: [UInt8]) {
    guard let tab = line.prefix(Self.maximumKeyLength + 1).firstIndex(of: UInt8(ascii: "\t")), tab > 0,
      !line[..<tab].contains(where: { $0 < 0x20 || $0 == 0x7F }),
      let key = String(validating: line[..<tab], as: UTF8.self)
    else { return nil }
    self.key = key
    receipt = Array(line[(tab + 1)...])
  }

  /// The error for a line without a key. It ends the command: the boundaries of the receipts in such an input are
  /// unknown.
  static func failure(source: String, index: Int) -> ExitCode {
    ToolExit.failure(
      .malformedInput,
      "\(ShownText.plain(source)):\(index): the line does not begin with a key and a tab, as --keyed requires: a key is "
        + "1 to \(maximumKeyLength) bytes of UTF-8 without control characters, and a receipt has no line feed"
    )
  }
}
