// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
import ReceiptHTTPCurl
import ReceiptVerification

extension VerifyCommand {
  private static let longestReceipt = 1 << 32

  func validate() throws {
    try validateChecks()
    try detached.validate(paths: paths, ["--lines": readsLines])
    try checks.requireAccountToken(isText: appKeys.isGiven && !checks.asks("app-store"))
    try refuse(["--keyed": isKeyed, "--exit-zero": exitsZero], unless: readsLines, "needs --lines")
    try refuse(["--payload": printsPayload], unless: !isKeyed, "cannot go with --keyed: payloads have no key")
    guard 1...Self.longestReceipt ~= maximumByteCount else {
      throw ValidationError("--max-bytes takes a positive number, at most \(Self.longestReceipt).")
    }
  }

  func run() async throws {
    let resolved = try trust.resolve()
    let explain: @Sendable (VerificationDiagnostic) -> Void = { note($0.description) }
    var policy = try policy.policy(resolved)
    try appKeys.apply(to: &policy, kinds: self.policy.kinds)
    if checks.offlineSuffices { policy.offlineRule = .sufficient }
    policy.requiresCurrentPurchase = checks.requiresCurrent
    // The transport is created only for remote checks: other verifications need no network.
    let transport = checks.specifications.isEmpty ? nil : servers.transport()
    defer { transport?.shutdown() }
    var checkers =
      try transport.map { try self.checkers(over: $0, policy: policy, trust: resolved) } ?? []
    let recorder = try auditing.recorder(policy)
    if let lists = try revocationListChecker() { checkers.append(lists) }
    if let stated = checks.signedContentChecker(policy) { checkers.append(stated) }
    if let replays = auditing.replayChecker(recorder) { checkers.append(replays) }
    let verifier = ReceiptVerifier(
      trust: resolved.anchors, policy: policy, intermediates: resolved.intermediates,
      limits: ReceiptLimits(maximumByteCount: maximumByteCount),
      diagnostics: explains ? explain : nil)

    // The output for a keyed line depends on that line alone, so that retrying a partition changes nothing.
    let means = Verification(
      verifier: verifier, checkers: checkers, recorder: recorder,
      instant: isKeyed ? policy.statedInstant : policy.instant)
    let progress = Progress("verified", "receipts")
    var tally = VerdictTally()
    do {
      if let receipt = try detached.receipt(limit: maximumByteCount) {
        try await verify(receipt.bytes, named: receipt.name, with: means, &tally)
      }
      for path in paths {
        do {
          try await verify(path, with: means, progress, &tally)
        } catch let failure as ReadFailure {
          try failure.report()
          tally.hasUnreadableInput = true
        }
      }
    } catch {
      // The exit code must differ from that of an invalid receipt.
      let failure =
        (error as? AuditError).map {
          ToolExit.failure(
            .inputOutput, "the verdict could not be recorded in \(recorder?.name ?? ""): \($0.description)")
        } ?? ToolExit.failure(for: error)
      _ = try? recorder?.close()
      throw failure
    }
    try recorder?.close()
    if readsLines {
      progress.finish(": \(tally.valid) valid, \(tally.invalid) invalid, \(tally.undetermined) undetermined")
    }
    if exitsZero { (tally.invalid, tally.undetermined) = (0, 0) }
    if let code = tally.exitCode { throw code }
  }

  private func verify(
    _ path: String, with means: Verification, _ progress: Progress, _ tally: inout VerdictTally
  ) async throws {
    let input = try InputFile(path)
    if readsLines {
      let lines = LineVerification(
        means: means, source: path, output: printsPayload ? .payload : json ? .json : .text,
        colors: color.colors, progress: progress,
        isKeyed: isKeyed)
      return try await lines.run(input, maximumLineLength: maximumByteCount, &tally)
    }
    let bytes = ReceiptInputText.stripped(try input.readAll(limit: maximumByteCount))
    try await verify(bytes, named: path, with: means, &tally)
  }

  private func verify(
    _ bytes: [UInt8], named path: String, with means: Verification, _ tally: inout VerdictTally
  ) async throws {
    var verdict = await means.verifier.verify(bytes, checkers: means.checkers)
    let recorded = try await means.recorder?.record([(verdict, bytes)]).first
    verdict = recorded?.verdict ?? verdict
    var report = VerdictReport(source: path, index: nil, verdict: verdict, instant: means.instant)
    report.recorded = recorded?.acknowledgement
    tally.count(verdict)
    if printsPayload, case .valid(let receipt) = verdict {
      try writeAll(receipt.payloadJSON() + [0x0A])
    } else if json {
      try writeAll(report.jsonLine())
    } else if printsPayload {
      note(report.text())
    } else {
      try writeAll(color.colors.painted(report.text()))
    }
  }
}

struct VerdictTally: Sendable {
  var valid = 0
  var invalid = 0
  var undetermined = 0
  var hasUnreadableInput = false

  mutating func count(_ verdict: Verdict) {
    switch verdict {
    case .valid: valid += 1
    case .invalid: invalid += 1
    case .undetermined: undetermined += 1
    }
  }

  var count: UInt64 { UInt64(valid + invalid + undetermined) }

  mutating func add(_ other: VerdictTally) {
    valid += other.valid
    invalid += other.invalid
    undetermined += other.undetermined
    hasUnreadableInput = hasUnreadableInput || other.hasUnreadableInput
  }

  var exitCode: ExitCode? {
    if invalid > 0 { return ExitCode.invalid }
    if hasUnreadableInput { return ExitCode.unreadableInput }
    return undetermined > 0 ? ExitCode.undetermined : nil
  }
}
