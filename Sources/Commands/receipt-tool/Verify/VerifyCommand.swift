// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
import ReceiptHTTPCurl
import ReceiptVerification

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Verify receipts.",
    discussion: """
      Reads any kind of receipt: signed JWS (transaction, renewal info, app
      transaction, notification, realtime request), app receipt (PKCS#7, binary or
      base64), transaction receipt (property list), purchase or licence of Google
      Play or purchase of Huawei AppGallery (a JSON object with the members "data"
      and "signature"), or a JSON object that wraps one. The network is only used
      with --check.

      EXAMPLES:
        receipt-tool verify --bundle-id com.example.app \\
          --environment production receipt.b64
        receipt-tool verify --trust my-store/root.cer --json purchase.jws
        receipt-tool verify --trust my-root.cer --intermediate my-intermediates/ \\
          receipt.b64
        receipt-tool verify --lines --json receipts.txt > verdicts.jsonl
        receipt-tool verify --lines --keyed --exit-zero --json - < receipts.tsv
        receipt-tool verify --payload purchase.jws
        receipt-tool verify --time 2024-06-01T00:00:00Z -
        receipt-tool verify --audit verdicts.audit receipt.b64
        receipt-tool verify --play-key com.example.app=play-key.txt purchase.json
        receipt-tool verify --play-key com.example.app=play-key.txt \\
          --data purchase.txt --signature signature.txt
        receipt-tool verify --check app-store --credentials app-store.json \\
          --bundle-id com.example.app purchase.jws

      EXIT CODES:
        0 all valid; 1 at least one invalid; 2 none invalid, at least one
        undetermined (with --exit-zero, 0 for these two); 64 wrong command line; 65
        a line has no key (--keyed), and its input is not read on; 66 an input
        cannot be read (1 goes before 66, and 66 before 2); 70 internal fault; 74 a
        verdict could not be recorded (--audit), and was not printed; or what was
        recorded and printed could not be covered by a signed checkpoint; or the
        output could not be written, and ends early. The message says which.
      """)

  @OptionGroup(title: "Trust") var trust: TrustOptions
  @OptionGroup(title: "Policy") var policy: PolicyOptions

  @OptionGroup(title: "Keys of apps at other stores") var appKeys: AppKeyOptions

  @OptionGroup(title: "Data and signature apart") var detached: DetachedFilesOptions

  @OptionGroup(title: "Remote checks") var checks: CheckerOptions
  @OptionGroup(title: "Credentials") var credentials: CredentialOptions
  @OptionGroup(title: "Google Play") var play: PlayAccountOptions
  @OptionGroup(title: "Huawei") var huawei: HuaweiOptions
  @OptionGroup(title: "Servers") var servers: ServerOptions

  @OptionGroup(title: "Audit trail") var auditing: RecordingVerdictOptions

  @Flag("lines", "Each line of the input is a receipt; results come in input order.") var readsLines = false

  @Flag(
    "keyed",
    "With --lines: each line is a key, a tab and a receipt; the result has the key in place of source and index."
  )
  var isKeyed = false

  @Flag(
    "exit-zero",
    "With --lines: exit with 0 also if receipts are invalid or undetermined, for callers that read each verdict."
  )
  var exitsZero = false

  @Flag("json", "Print one JSON object a line.") var json = false

  @Flag(
    "payload", "Print the whole payload of each valid receipt as the store signed it.",
    discussion: """
      Of formats that are no JSON, a JSON object of all fields. The verdict on any other receipt goes to standard \
      error; with --json or --lines it is printed in the place of the payload, as JSON.
      """)
  var printsPayload = false

  @OptionGroup var color: ColorOptions

  @Flag("explain", "Explain every decision on standard error.") var explains = false

  @Option("max-bytes", "The longest accepted receipt, in bytes.", value: "N")
  var maximumByteCount = ReceiptLimits.standard.maximumByteCount

  @Argument("Files to read; - is standard input.", value: "path") var paths: [String] = []

  private static let longestReceipt = 1 << 32

  private var access: CheckerAccess {
    CheckerAccess(credentials: credentials, play: play, huawei: huawei, servers: servers)
  }

  func validate() throws {
    try checks.validate(access)
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
    // The transport is created only for remote checks: other verifications need no network.
    let transport = checks.specifications.isEmpty ? nil : servers.transport()
    defer { transport?.shutdown() }
    var checkers =
      try transport.map {
        try checks.checkers(access, over: $0, policy: policy, trust: resolved)
      } ?? []
    let recorder = try auditing.recorder(policy)
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
      let failure =
        (error as? AuditError).map { VerdictRecorder.failure($0, recorder?.name ?? "") }
        ?? ToolExit.failure(for: error)
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
