// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import AuditTrail
import ReceiptCrypto
import ReceiptVerification

extension ReplayRule: ExpressibleByArgument {
  /// The rule with a name.
  public init?(argument: String) {
    guard let rule = ReplayRule.all.first(where: { $0.rawValue == argument }) else { return nil }
    self = rule
  }

  /// The names of all rules.
  public static var allValueStrings: [String] { all.map(\.rawValue) }
}

/// The audit trail that records the verdicts of a verification.
struct RecordingVerdictOptions: ParsableArguments {
  @Option(
    "audit", "Record every verdict in this audit trail before it is printed: a path, or postgresql://….",
    value: "TRAIL", discussion: "Create one with: receipt-tool audit init TRAIL")
  var trail: String?

  @Option("audit-private-key", "The trail's private key. Default: TRAIL.key.", value: "FILE")
  var privateKey: String?

  @Option("audit-key", "The trail's public key, or a file with it. Default: TRAIL.pub.", value: "KEY|FILE")
  var publicKey: String?

  @Option(
    "audit-checkpoint", "The store of the trail's last checkpoint. Default: TRAIL.checkpoint.", value: "FILE")
  var checkpoint: String?

  @Option(
    "customer",
    "The customer who presents the receipts, recorded in the erasable part. Default: their appAccountToken.",
    value: "TOKEN")
  var customer: String?

  @Flag("discard-receipts", "Record verdicts without the receipts themselves, which could be erased later.")
  var discardsReceipts = false

  @Option(
    "refuse-replay", "Refuse a receipt that the trail shows to be a replay. May be repeated.",
    discussion: """
      another-customer: a purchase that was granted to another customer.
      same-receipt: a receipt that was accepted before. consumable-again: a
      consumable whose transaction was granted before.
      """)
  var replayRules: [ReplayRule] = []

  @Option(
    "consumable",
    "With consumable-again: a product that is a consumable though receipts do not say so. May be repeated.",
    value: "PRODUCT")
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

  /// Opens the trail; `nil` if none is given.
  func recorder(_ policy: VerificationPolicy) throws -> VerdictRecorder? {
    guard let trail else { return nil }
    let location = TrailLocation(trail, privateKey: privateKey, publicKey: publicKey, checkpoint: checkpoint)
    let log = try location.open(writing: true)
    do throws(AuditError) { try log.keep(policy: policy) } catch {
      throw ToolExit.failure(for: error, location.name)
    }
    return VerdictRecorder(
      log: log, name: location.name, policy: SHA256Digest(of: policy),
      rules: Set(replayRules), consumables: Set(consumables),
      options: RecordingOptions(keepsReceipt: !discardsReceipts, customer: customer))
  }

  /// The checker that refuses replays early; `nil` without rules. The recorder makes the final decision.
  func replayChecker(_ recorder: VerdictRecorder?) -> ReplayChecker? {
    guard let recorder, !replayRules.isEmpty else { return nil }
    return ReplayChecker(
      recorder.log, rules: Set(replayRules), customer: customer, consumables: Set(consumables))
  }
}

struct VerdictRecorder: Sendable {
  let log: AuditLog
  let name: String
  let policy: SHA256Digest
  let rules: Set<ReplayRule>
  let consumables: Set<String>
  let options: RecordingOptions

  /// A verdict, with the acknowledgement of its entry if it was recorded.
  typealias Recorded = (verdict: Verdict, acknowledgement: AuditAcknowledgement?)

  /// Records verdicts in one step, which also applies the replay rules: receipts that the rules refuse become invalid.
  /// It waits while the trail is busy.
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
    let groups = verdicts.map { verdict, receipt in
      [AuditRecord](verdict, receipt: receipt, policyDigest: policy, at: now, options: options)
    }
    return zip(verdicts, try await log.append(groups: groups)).map { ($0.verdict, $1) }
  }

  /// Closes the trail, which signs a checkpoint that includes the recorded verdicts.
  func close() throws {
    do throws(AuditError) { try log.close() } catch { throw TrailLocation.checkpointFailure(error, name) }
  }

  /// The exit code for an error of the trail, which must differ from that of an invalid receipt.
  static func failure(_ error: AuditError, _ name: String) -> ExitCode {
    ToolExit.failure(.inputOutput, "the verdict could not be recorded in \(name): \(error.description)")
  }
}
