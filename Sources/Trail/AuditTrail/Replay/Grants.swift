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
