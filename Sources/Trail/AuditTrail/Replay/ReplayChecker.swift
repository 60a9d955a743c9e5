// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptVerification

/// Refuses receipts that the trail shows to be replays. It is a checker like any other:
///
/// ```swift
/// let replays = ReplayChecker(trail, rules: [.anotherCustomer, .consumableAgain], customer: account.id)
/// let verdict = await verifier.verify(receipt, checkers: [appStore, replays])
/// let records = [AuditRecord](verdict, receipt: receipt, policy: verifier.policy, at: SystemClock.now(),
///   options: RecordingOptions(customer: account.id))
/// ```
///
/// A refusal makes the verdict invalid, with the reason `checker-refused`; a trail that cannot be asked makes it
/// undetermined.
///
/// Two requests at the same moment may both find nothing. So the checker alone refuses early; what decides is
/// ``AuditLog/grant(_:acknowledgement:)``, which asks the same questions in the transaction that records the answer.
public struct ReplayChecker: RemoteChecker {
  /// The most entries of one transaction or receipt that are looked at.
  public static let maximumEntryCount = 4096

  /// Its name in verdicts: `replay`.
  public let name = "replay"
  private let trail: any AuditLookup
  private let rules: Set<ReplayRule>
  private let customer: String?
  private let consumables: Set<String>

  /// Creates a checker for one request.
  ///
  /// - Parameters:
  ///   - trail: Where earlier verdicts are recorded.
  ///   - rules: What counts as a replay.
  ///   - customer: Who presents the receipt, as it is recorded (``RecordingOptions/customer``); by default the
  ///     `appAccountToken` that the receipt states. Without either ``ReplayRule/anotherCustomer`` finds nothing.
  ///   - consumables: Products that are consumables, for receipts that do not say so: transaction receipts, and app
  ///     receipts of some years.
  public init(
    _ trail: any AuditLookup, rules: Set<ReplayRule>, customer: String? = nil, consumables: Set<String> = []
  ) {
    self.trail = trail
    self.rules = rules
    self.customer = customer.map(RecordingOptions.canonicalCustomer)
    self.consumables = consumables
  }

  /// Looks for earlier grants.
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

  /// The reason why it is a replay; `nil` if it is not one.
  private func replay(of receipt: VerifiedReceipt) async throws -> String? {
    for question in ReplayQuestion.questions(
      about: receipt, rules, customer: customer, consumables: consumables)
    {
      let grants = try await earlier(question).filter { $0.entry.verdict == .valid }
      guard case .customer = question else {
        if let first = grants.first { return question.replay(grantedIn: first.index, first.entry) }
        continue
      }
      // An erased customer cannot be compared: the owner is the first customer that is still recorded.
      for grant in grants {
        guard let owner = try await trail.customer(at: grant.index) else { continue }
        if let replay = question.replay(grantedIn: grant.index, grant.entry, to: owner) {
          return replay
        }
        break
      }
    }
    return nil
  }

  private func earlier(_ question: ReplayQuestion) async throws -> [EarlierEntry] {
    let limit = Self.maximumEntryCount
    let found =
      switch question {
      case .receipt(let identity): try await trail.entries(receipt: identity, limit: limit)
      case .consumable(.transaction(let transaction), let scope),
        .customer(.transaction(let transaction), let scope, _, _):
        try await trail.entries(transaction: transaction, in: scope, limit: limit)
      case .consumable(.original(let original), let scope),
        .customer(.original(let original), let scope, _, _):
        try await trail.entries(original: original, in: scope, limit: limit)
      }
    // The first grant may be among those that are not shown.
    guard found.count < limit else { throw TooManyEntries() }
    return found
  }

  private struct TooManyEntries: Error, CustomStringConvertible {
    var description: String {
      "there are \(ReplayChecker.maximumEntryCount) entries or more of the purchase; decide by AuditLog.grant"
    }
  }
}

/// What counts as a replay. A replay is a genuine receipt that is presented once too often: only the record of what was
/// granted before can tell. Only entries with a valid verdict count, and of purchases only those of the same store, app
/// and environment (``PurchaseScope``).
public struct ReplayRule: RawRepresentable, Sendable, Hashable {
  /// The name, as `receipt-tool` has it.
  public let rawValue: String
  /// Creates a rule from its name; one that is unknown is never broken.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A transaction, or another one of the same original transaction, that was first granted to another customer.
  /// Restoring to one's own account stays possible.
  public static let anotherCustomer = ReplayRule(rawValue: "another-customer")
  /// The same receipt, in whatever spelling (`VerifiedReceipt.identity`) and from any customer. For receipts that are
  /// presented once by design, such as those of consumables; an app that sends its receipt on every start would be
  /// refused on the second.
  public static let sameReceipt = ReplayRule(rawValue: "same-receipt")
  /// A consumable whose transaction was granted before, in whatever receipt.
  public static let consumableAgain = ReplayRule(rawValue: "consumable-again")

  /// All rules.
  public static let all: [ReplayRule] = [.anotherCustomer, .sameReceipt, .consumableAgain]
}
