// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto
public import ReceiptVerification

/// A verdict to record, and the rules under which the purchase is granted.
public struct GrantRequest: Sendable {
  let verdict: Verdict
  let questions: [ReplayQuestion]
  private let receipt: [UInt8]
  private let policyDigest: SHA256Digest
  private let time: Timestamp
  private let options: RecordingOptions

  /// Creates a request from a verdict.
  ///
  /// - Parameters:
  ///   - verdict: The verdict. If it is not valid, it is recorded, and nothing is granted.
  ///   - receipt: The bytes that were verified.
  ///   - policyDigest: The digest of the policy that they were verified under.
  ///   - time: The time of the verdict.
  ///   - rules: The rules by which a receipt is a replay; without rules, every valid verdict is a grant.
  ///   - consumables: Products that are consumables, for receipts that do not say so.
  ///   - options: The options for data that is kept in addition. Its customer, by default the `appAccountToken` that
  ///     the receipt states, is the one to whom the purchase is granted.
  public init(
    _ verdict: Verdict, receipt: [UInt8], policyDigest: SHA256Digest, at time: Timestamp,
    rules: Set<ReplayRule>, consumables: Set<String> = [], options: RecordingOptions = RecordingOptions()
  ) {
    self.verdict = verdict
    self.receipt = receipt
    self.policyDigest = policyDigest
    self.time = time
    self.options = options
    questions =
      verdict.receipt.map {
        ReplayQuestion.questions(
          about: $0, rules, customer: options.customer.map(RecordingOptions.canonicalCustomer),
          consumables: consumables)
      } ?? []
  }

  func records(_ verdict: Verdict) -> [AuditRecord] {
    [AuditRecord](verdict, receipt: receipt, policyDigest: policyDigest, at: time, options: options)
  }
}

extension GrantDecision {
  /// `true` if the purchase was granted.
  ///
  /// Deliver the receipt's `transactions` and nothing else: a genuine receipt of a purchase that is not paid yet has no
  /// transactions.
  public var isGranted: Bool { verdict.receipt != nil }
}

/// Decides requests for grants by the entries of the trail, and records each decision.
struct Grants: Sendable {
  let writer: TrailWriter
  let reader: Reader
  let publisher: Publisher
  let index: IndexMaintenance
  let rounds: WitnessRounds?
  let maximumCount: Int

  /// The maximum number of times that a history that is too long is read outside the transaction, for one request.
  private static let maximumSearches = 3

  /// Does what ``AuditLog/grant(_:acknowledgement:)`` says.
  func decide(
    _ requests: [GrantRequest], _ mode: AcknowledgementMode
  ) async throws(AuditError) -> [GrantDecision] {
    guard !requests.isEmpty else { return [] }
    guard requests.count <= maximumCount else {
      throw AuditError(.overloaded, "More than \(maximumCount) requests at a time; make fewer.")
    }
    try publisher.requirePublishing()
    let rounds = try rounds.admit(mode)
    let decisions = try await enter(requests, mode)
    publisher.schedule()
    index.mergeIfFlushed()
    try await rounds?.makeQuorum()
    return decisions
  }

  /// Decides and records all requests, in one transaction unless one of them concerns a purchase with a long history.
  private func enter(
    _ requests: [GrantRequest], _ mode: AcknowledgementMode
  ) async throws(AuditError) -> [GrantDecision] {
    var decisions: [GrantDecision] = []
    var known = KnownGrants()
    var attempts = 0
    while true {
      let rest = requests[decisions.count...]
      // If the owners of a purchase are erased again and again during the search, the transaction reads all of its
      // history.
      let isBounded = attempts < Self.maximumSearches
      let longest = isBounded ? KnownGrants.maximumEntryCount : .max
      if !isBounded { known = KnownGrants() }
      let decided = try await BlockingWork.run { [known] () throws(AuditError) in
        let decided = try writer.grant(rest, known, longest: longest)
        guard decided.count == rest.count else { return decided }
        try writer.synchronize()
        if mode != .durable { try publisher.publish() }
        return decided
      }
      decisions += decided
      guard decisions.count < requests.count else { return decisions }
      attempts = decided.isEmpty ? attempts + 1 : 1
      let questions = requests[decisions.count].questions
      do { known = try await reader.read { view in try KnownGrants(of: questions, in: view) } } catch {
        throw AuditError(error)
      }
    }
  }
}
