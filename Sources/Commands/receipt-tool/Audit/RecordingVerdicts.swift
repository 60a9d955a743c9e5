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

extension RecordingVerdictOptions {
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
}
