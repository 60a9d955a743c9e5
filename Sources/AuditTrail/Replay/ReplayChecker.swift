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
/// undetermined. Two requests at the same moment may both find nothing: whoever grants a consumable records the
/// verdict first, and grants it only where ``isFirstGrant(of:at:)`` says so.
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

  /// Whether the entry at `index` is the first that grants a transaction: of several requests at the same moment, each
  /// of which recorded a valid verdict, this is true for one.
  public func isFirstGrant(of transaction: String, at index: UInt64) async throws -> Bool {
    try await grants(of: transaction).first?.index == index
  }

  /// Why it is a replay; `nil` where it is none.
  private func replay(of receipt: VerifiedReceipt) async throws -> String? {
    if rules.contains(.sameReceipt), let replay = try await sameReceipt(receipt) { return replay }
    if rules.contains(.consumableAgain) {
      for transaction in consumableTransactions(of: receipt) {
        guard let first = try await grants(of: transaction).first else { continue }
        return "The consumable of transaction \(transaction) was granted before, in entry \(first.index)."
      }
    }
    if rules.contains(.anotherCustomer) { return try await anotherCustomer(receipt) }
    return nil
  }

  private func sameReceipt(_ receipt: VerifiedReceipt) async throws -> String? {
    let identity = SHA256Digest(identityOf: receipt)
    let first = try await trail.entries(receipt: identity, limit: Self.maximumEntryCount)
      .first { $0.entry.verdict == .valid }
    return first.map { "This receipt was accepted before, in entry \($0.index)." }
  }

  private func anotherCustomer(_ receipt: VerifiedReceipt) async throws -> String? {
    guard let customer = customer ?? receipt.appAccountToken.map(RecordingOptions.canonicalCustomer) else {
      return nil
    }
    for line in PurchaseLine.lines(receipt) {
      let earlier: [EarlierEntry]
      if let original = line.newest.originalTransactionId {
        earlier = try await trail.entries(original: original, limit: Self.maximumEntryCount)
      } else if let transaction = line.newest.transactionId {
        earlier = try await trail.entries(transaction: transaction, limit: Self.maximumEntryCount)
      } else {
        continue
      }
      guard let (index, owner) = try await owner(earlier), !UTF8Text.isIdentical(owner, customer) else {
        continue
      }
      let name = line.newest.transactionId ?? line.newest.originalTransactionId ?? ""
      return "The purchase of transaction \(name) was granted to another customer, in entry \(index)."
    }
    return nil
  }

  /// To whom it was granted first, and where. A customer who was erased is nobody that could be compared with.
  private func owner(_ earlier: [EarlierEntry]) async throws -> (index: UInt64, token: String)? {
    for entry in earlier where entry.entry.verdict == .valid {
      if let token = try await trail.customer(at: entry.index) { return (entry.index, token) }
    }
    return nil
  }

  private func grants(of transaction: String) async throws -> [EarlierEntry] {
    try await trail.entries(transaction: transaction, limit: Self.maximumEntryCount)
      .filter { $0.entry.verdict == .valid }
  }

  private func consumableTransactions(of receipt: VerifiedReceipt) -> [String] {
    var identifiers: [String] = []
    switch receipt.content {
    case .jws(.transaction(let transaction)) where transaction.type == .consumable:
      identifiers = [transaction.transactionId].compactMap { $0 }
    case .jws(.notification):
      identifiers = receipt.nested.flatMap(consumableTransactions)
    case .appReceipt(let payload):
      identifiers = payload.inAppPurchases.filter { $0.productType == .consumable }.compactMap(
        \.transactionId)
    default: break
    }
    let named = receipt.transactions.filter { transaction in
      consumables.contains { UTF8Text.isIdentical($0, transaction.productId ?? "") }
    }
    return identifiers + named.compactMap(\.transactionId)
  }
}
