// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptVerification

/// Refuses receipts that are replays according to the trail.
///
/// It is used like any other checker:
///
/// ```swift
/// let replays = ReplayChecker(trail, rules: [.anotherCustomer, .consumableAgain], customer: account.id)
/// let verdict = await verifier.verify(receipt, checkers: [appStore, replays])
/// let records = [AuditRecord](verdict, receipt: receipt, policy: verifier.policy, at: SystemClock.now(),
///   options: RecordingOptions(customer: account.id))
/// ```
///
/// A refusal makes the verdict invalid, with the reason `checker-refused`. If the trail cannot be read, the verdict is
/// undetermined.
///
/// Two simultaneous requests may both find no earlier grant. So the checker only refuses early, and the decision is
/// made by ``AuditLog/grant(_:acknowledgement:)``, which asks the same questions in the transaction that records the
/// answer.
public struct ReplayChecker: RemoteChecker {
  /// The maximum number of entries of one transaction or receipt that are examined.
  package static let maximumEntryCount = 4096

  /// The checker's name in verdicts: `replay`.
  public let name = "replay"
  private let trail: any AuditLookup
  private let rules: Set<ReplayRule>
  private let customer: String?
  private let consumables: Set<String>

  /// Creates a checker for one request.
  ///
  /// - Parameters:
  ///   - trail: The trail that records earlier verdicts.
  ///   - rules: The rules by which a receipt is a replay.
  ///   - customer: The customer who presents the receipt, as it is recorded; by default
  ///     the `appAccountToken` that the receipt states. Without either, ``ReplayRule/anotherCustomer`` finds nothing.
  ///   - consumables: Products that are consumables, for receipts that do not say so: transaction receipts, and app
  ///     receipts of some years.
  public init(
    _ trail: AuditLog, rules: Set<ReplayRule>, customer: String? = nil, consumables: Set<String> = []
  ) {
    self.init(trail as any AuditLookup, rules: rules, customer: customer, consumables: consumables)
  }

  package init(
    _ trail: any AuditLookup, rules: Set<ReplayRule>, customer: String? = nil, consumables: Set<String> = []
  ) {
    self.trail = trail
    self.rules = rules
    self.customer = customer.map(RecordingOptions.canonicalCustomer)
    self.consumables = consumables
  }

  /// Searches for earlier grants.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    do {
      if let replay = try await replay(of: receipt) {
        return .response(CheckerResponse(.refused(message: replay)))
      }
      return .response(CheckerResponse(.confirmed))
    } catch {
      return .retryableFailure(message: "The audit trail could not be asked: \(error)")
    }
  }

  /// Returns the reason that the receipt is a replay; `nil` if it is not a replay.
  private func replay(of receipt: VerifiedReceipt) async throws -> String? {
    for question in ReplayQuestion.questions(
      about: receipt, rules, customer: customer, consumables: consumables)
    {
      let found = try await trail.entries(question, limit: Self.maximumEntryCount)
      // The first grant may be among the entries beyond the limit.
      guard found.count < Self.maximumEntryCount else { throw TooManyEntries() }
      let grants = found.reversed().filter { $0.entry.verdict == .valid }
      guard case .customer = question else {
        if let first = grants.first { return question.replay(grantedIn: first.index, first.entry) }
        continue
      }
      // An erased customer cannot be compared. The owner is the first customer that is still recorded.
      for grant in grants {
        guard let owner = try await trail.customer(at: grant.index) else { continue }
        if let replay = question.replay(grantedIn: grant.index, grant.entry, to: owner) { return replay }
        break
      }
    }
    return nil
  }

  private struct TooManyEntries: Error, CustomStringConvertible {
    var description: String {
      "there are \(ReplayChecker.maximumEntryCount) entries or more of the purchase; decide by AuditLog.grant"
    }
  }
}

/// The lookups that a trail must support for replays to be detected.
package protocol AuditLookup: Sendable {
  /// Returns the newest entries that a question concerns, in its scope and newest first.
  ///
  /// Identifiers are compared byte for byte, and are unique only within their scope.
  func entries(_ question: ReplayQuestion, limit: Int) async throws -> [RecordedEntry]

  /// Returns the customer of an entry; `nil` if no customer was recorded, or it was erased.
  func customer(at index: UInt64) async throws -> String?
}

extension ReplayRule {
  package static let all: [ReplayRule] = [.anotherCustomer, .sameReceipt, .consumableAgain]
}
