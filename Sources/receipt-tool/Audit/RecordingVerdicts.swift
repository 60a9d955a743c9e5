// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

extension ReplayRule: ExpressibleByArgument {
  /// A rule by its name.
  public init?(argument: String) {
    guard let rule = ReplayRule.all.first(where: { $0.rawValue == argument }) else { return nil }
    self = rule
  }

  /// The names.
  public static var allValueStrings: [String] { all.map(\.rawValue) }
}

/// Where the verdicts of a verification are recorded.
struct RecordingVerdictOptions: ParsableArguments {
  @Option(
    name: .customLong("audit"),
    help: ArgumentHelp(
      "Record every verdict in this audit trail before it is printed: a path, or postgresql://….",
      discussion: "Make one with: receipt-tool audit init TRAIL", valueName: "TRAIL"))
  var trail: String?

  @Option(
    name: .customLong("audit-private-key"),
    help: ArgumentHelp("The trail's private key. Default: TRAIL.key.", valueName: "FILE"))
  var privateKey: String?

  @Option(
    name: .customLong("audit-key"),
    help: ArgumentHelp(
      "The trail's public key, or a file with it. Default: TRAIL.pub.", valueName: "KEY|FILE"))
  var publicKey: String?

  @Option(
    name: .customLong("audit-checkpoint"),
    help: ArgumentHelp(
      "Where the trail's last checkpoint is kept. Default: TRAIL.checkpoint.", valueName: "FILE"))
  var checkpoint: String?

  @Option(
    name: .customLong("customer"),
    help: ArgumentHelp(
      "Who presents the receipts, to be recorded in the erasable part. Default: their appAccountToken.",
      valueName: "TOKEN"))
  var customer: String?

  @Flag(
    name: .customLong("discard-receipts"),
    help: "Record verdicts without the receipts themselves, which could be erased later.")
  var discardsReceipts = false

  @Option(
    name: .customLong("refuse-replay"),
    help: ArgumentHelp(
      "Refuse a receipt that the trail shows to be a replay. May be repeated.",
      discussion: """
        another-customer: a purchase that was granted to another customer. same-receipt: a receipt that was accepted \
        before. consumable-again: a consumable whose transaction was granted before.
        """))
  var replayRules: [ReplayRule] = []

  @Option(
    name: .customLong("consumable"),
    help: ArgumentHelp(
      "With consumable-again: a product that is a consumable though receipts do not say so. May be repeated.",
      valueName: "PRODUCT"))
  var consumables: [String] = []

  func validate() throws {
    try refuse(
      [
        "--audit-private-key": privateKey != nil, "--audit-key": publicKey != nil,
        "--audit-checkpoint": checkpoint != nil, "--customer": customer != nil,
        "--discard-receipts": discardsReceipts, "--refuse-replay": !replayRules.isEmpty,
      ], unless: trail != nil, "needs --audit TRAIL")
    try refuse(
      ["--consumable": !consumables.isEmpty], unless: replayRules.contains(.consumableAgain),
      "needs --refuse-replay consumable-again")
  }

  /// Opens the trail; `nil` where none was named.
  func recorder(_ policy: VerificationPolicy) throws -> VerdictRecorder? {
    guard let trail else { return nil }
    let location = TrailLocation(trail, privateKey: privateKey, publicKey: publicKey, checkpoint: checkpoint)
    let log = try location.open(writing: true)
    do throws(AuditError) { try log.keep(policy: policy) } catch {
      throw TrailLocation.failure(error, location.name)
    }
    return VerdictRecorder(
      log: log, name: location.name, policy: SHA256Digest(of: policy),
      rules: Set(replayRules), consumables: Set(consumables),
      options: RecordingOptions(keepsReceipt: !discardsReceipts, customer: customer))
  }

  /// The checker that refuses replays early; `nil` where none is asked for. What decides is the recorder.
  func replayChecker(_ recorder: VerdictRecorder?) -> ReplayChecker? {
    guard let recorder, !replayRules.isEmpty else { return nil }
    return ReplayChecker(
      recorder.log, rules: Set(replayRules), customer: customer, consumables: Set(consumables))
  }
}

/// Records verdicts.
struct VerdictRecorder: Sendable {
  let log: AuditLog
  let name: String
  let policy: SHA256Digest
  let rules: Set<ReplayRule>
  let consumables: Set<String>
  let options: RecordingOptions

  /// A verdict as it was recorded, and where.
  typealias Recorded = (verdict: Verdict, acknowledgement: AuditAcknowledgement?)

  /// Records verdicts together. With rules against replays, it is decided in the same step which of them are granted; the
  /// others are invalid then. It waits while the trail is busy.
  func record(_ verdicts: [(verdict: Verdict, receipt: [UInt8])]) async throws(AuditError) -> [Recorded] {
    let now = SystemClock.now()
    guard rules.isEmpty else {
      let requests = verdicts.map { verdict, receipt in
        GrantRequest(
          verdict, receipt: receipt, policyDigest: policy, at: now, rules: rules, consumables: consumables,
          options: options)
      }
      return try await log.grant(requests).map { ($0.verdict, $0.acknowledgements.first) }
    }
    var records: [AuditRecord] = []
    var places: [Int] = []
    for (verdict, receipt) in verdicts {
      places.append(records.count)
      records += [AuditRecord](verdict, receipt: receipt, policyDigest: policy, at: now, options: options)
    }
    while true {
      do throws(AuditError) {
        let acknowledgements = try await log.append(records)
        return zip(verdicts, places).map { ($0.verdict, acknowledgements[$1]) }
      } catch {
        guard error.code == .overloaded else { throw error }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Signs a checkpoint of what was recorded and closes the trail.
  func close() throws {
    do throws(AuditError) { try log.close() } catch { throw TrailLocation.checkpointFailure(error, name) }
  }

  /// Whatever is wrong with the trail must not look like the exit code of an invalid receipt.
  static func failure(_ error: AuditError, _ name: String) -> ExitCode {
    ToolExit.failure(
      ToolExit.inputOutput, "the verdict could not be recorded in \(name): \(error.description)")
  }
}
