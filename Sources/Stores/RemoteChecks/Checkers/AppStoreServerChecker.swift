// SPDX-License-Identifier: Apache-2.0

public import AppStoreServer
public import ReceiptCodec
public import ReceiptVerification

/// Checks with the App Store Server API that a purchase is known and was not revoked, refunded or upgraded.
///
/// It also checks the owner.
///
/// If an app receipt has several purchases, the newest is looked up and the customer's refund history is read. If some
/// purchases were refunded and others are valid, the answer names those refunded.
///
/// The status of a subscription is not signed. If it contradicts the signed dates beside it
/// (`VerifiedSubscription.contradiction(at:)`), the verdict is undetermined, and the message states both.
public struct AppStoreServerChecker: RemoteChecker {
  /// `app-store`.
  public let name = "app-store"
  /// The kinds of the App Store.
  public let kinds: Set<ReceiptKind>? = Set(ReceiptKind.allCases.filter { !$0.isDetached })
  package var requirements: PurchaseRequirements
  /// Checks receipts while the App Store cannot be reached; `nil` by default.
  ///
  /// Set it if `VerificationPolicy.offlineRule` accepts the signature alone in that case. A refusal by this checker
  /// counts; a confirmation leaves the answer unreachable. Without it, receipts that are accepted offline need not meet
  /// the requirements.
  public var whileUnreachable: SignedContentChecker?
  private let clients: [AppStoreServerClient]

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - clients: One for each environment that the policy accepts. If the receipt does not prove its environment,
  ///     production is asked first, then the sandbox if production does not know the purchase.
  ///   - requirements: The requirements.
  public init(clients: [AppStoreServerClient], requirements: PurchaseRequirements = PurchaseRequirements()) {
    self.clients = clients.sorted {
      $0.raw.address.environment == .production && $1.raw.address.environment != .production
    }
    self.requirements = requirements
  }

  /// Asks about the purchases of a receipt.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    guard let subject = Subject(receipt) else {
      return .terminalFailure(message: "The \(receipt.kind.rawValue) names no purchase to ask about.")
    }
    // An app receipt without purchases contains nothing that could be refunded.
    if case .purchases([]) = subject { return .response(CheckerResponse(.confirmed)) }
    let proven = receipt.isEnvironmentProven ? receipt.environment?.category : nil
    let candidates =
      proven.map { proven in clients.filter { $0.raw.address.environment == proven } } ?? clients
    guard !candidates.isEmpty else {
      return .terminalFailure(
        message:
          "No App Store is set up for the environment \(receipt.environment?.rawValue ?? "of the receipt").")
    }
    for client in candidates {
      let answer = await Inquiry(client: client, requirements: requirements).answer(subject, of: receipt)
      guard let answer else { continue }
      if case .retryableFailure = answer,
        case .response(let stated)? = await whileUnreachable?.check(receipt),
        stated.standing != .confirmed
      {
        return .response(stated)
      }
      return answer
    }
    let asked = candidates.map { $0.raw.address.environment.rawValue }.joined(separator: " and ")
    return .refused("The App Store does not know the purchase (asked \(asked)).")
  }

  fileprivate enum Subject {
    case transaction(Transaction)
    case subscription(originalTransactionId: String)
    case appTransaction(String)
    case purchases([Transaction])

    init?(_ receipt: VerifiedReceipt) {
      switch receipt.content {
      case .appReceipt, .transactionReceipt:
        let purchases = receipt.transactions.filter { $0.transactionId != nil }
        guard purchases.count == receipt.transactions.count else { return nil }
        self = purchases.count == 1 ? .transaction(purchases[0]) : .purchases(purchases)
      case .jws(.transaction(let transaction)):
        guard transaction.transactionId != nil else { return nil }
        self = .transaction(transaction.transaction)
      case .jws(.renewalInfo(let renewalInfo)):
        guard let id = renewalInfo.originalTransactionId else { return nil }
        self = .subscription(originalTransactionId: id)
      case .jws(.realtimeRequest(let request)):
        self = .subscription(originalTransactionId: request.originalTransactionId)
      case .jws(.appTransaction(let appTransaction)):
        guard let id = appTransaction.appTransactionId else { return nil }
        self = .appTransaction(id)
      case .jws(.notification):
        // The transaction comes first, then renewal info, then the app transaction.
        guard let part = receipt.nested.first, let subject = Subject(part) else { return nil }
        self = subject
      case .detached: return nil
      }
    }
  }
}

/// Asks one environment, and evaluates its answer.
private struct Inquiry {
  let client: AppStoreServerClient
  let requirements: PurchaseRequirements

  private var environment: ReceiptEnvironment.Category { client.raw.address.environment }

  /// Returns the answer; `nil` if this environment does not know the purchase.
  func answer(_ subject: AppStoreServerChecker.Subject, of receipt: VerifiedReceipt) async -> CheckerAnswer? {
    do throws(AppStoreServerError) {
      switch subject {
      case .transaction(let transaction): return try await answer(about: transaction)
      case .subscription(let id): return try await answer(aboutSubscription: id)
      case .appTransaction(let id):
        _ = try await client.send(.appTransaction(of: id))
        return confirmed
      case .purchases(let purchases): return try await answer(about: purchases, of: receipt)
      }
    } catch {
      if error.meansUnknownPurchase { return nil }
      return .failure(error.description, isRetryable: error.isRetryable || error.isCancellation)
    }
  }

  private var confirmed: CheckerAnswer { .response(CheckerResponse(.confirmed, environment: environment)) }

  private func refused(_ message: String) -> CheckerAnswer { .refused(message, environment: environment) }

  private func revoked(at date: Timestamp) -> CheckerAnswer {
    .response(CheckerResponse(.revoked(at: date), environment: environment))
  }

  private func isOtherProduct(_ known: JWSTransaction, than claimed: Transaction) -> Bool {
    claimed.productId.map { $0 != known.productId } ?? false
  }

  private func answer(about claimed: Transaction) async throws(AppStoreServerError) -> CheckerAnswer {
    guard let id = claimed.transactionId else { return refused("The purchase has no identifier.") }
    let known = try await client.send(.transaction(id)).payload
    if let revocationDate = known.revocationDate { return revoked(at: revocationDate) }
    if let original = claimed.originalTransactionId, original != known.originalTransactionId {
      return refused("The App Store has another original transaction for \(id).")
    }
    if isOtherProduct(known, than: claimed) { return refused("The App Store has another product for \(id).") }
    if let refusal = requirements.refusal(
      isUpgraded: known.isUpgraded, appAccountToken: known.appAccountToken)
    {
      return refused(refusal)
    }
    if requirements.requiresCurrentSubscription, known.type == .autoRenewableSubscription,
      let original = known.originalTransactionId
    {
      return try await answer(aboutSubscription: original)
    }
    return confirmed(AppStorePurchase(known))
  }

  /// Confirms a purchase with its standing now, which may be that of a later period of the same subscription.
  private func confirmed(_ purchase: AppStorePurchase) -> CheckerAnswer {
    let standing = purchase.timeline(.store, signedAt: nil).standing(at: client.raw.time.now())
    return .response(
      CheckerResponse(.confirmed, environment: environment, purchases: [CheckedStanding(standing)]))
  }

  private func answer(
    aboutSubscription originalTransactionId: String
  ) async throws(AppStoreServerError) -> CheckerAnswer {
    let all = try await client.send(.subscriptionStatuses(of: originalTransactionId))
    guard let found = all.first(where: { $0.originalTransactionId == originalTransactionId }) else {
      return refused("The App Store does not list the subscription \(originalTransactionId).")
    }
    // A terminal failure, because after a retryable one the offline rule would accept the signature alone.
    if let contradiction = found.contradiction(at: client.raw.time.now()) {
      return .terminalFailure(message: contradiction)
    }
    let last = found.purchase.transaction.payload
    if let revocationDate = last.revocationDate { return revoked(at: revocationDate) }
    if let refusal = requirements.refusal(appAccountToken: last.appAccountToken) { return refused(refusal) }
    if requirements.requiresCurrentSubscription, found.status != .active, found.status != .gracePeriod {
      return refused(PurchaseRequirements.notActive("status \(found.status.rawValue)"))
    }
    var purchase = AppStorePurchase(last)
    purchase.renewalInfo = found.purchase.renewalInfo?.payload
    purchase.renewalInfoSignedDate = purchase.renewalInfo?.signedDate
    return confirmed(purchase)
  }

  /// Looks up the newest of a customer's purchases, and reads the refund history for all of them.
  private func answer(
    about purchases: [Transaction], of receipt: VerifiedReceipt
  ) async throws(AppStoreServerError) -> CheckerAnswer {
    let newest = purchases.max { ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast) }
    guard let newest, let id = newest.transactionId else { return refused("The receipt names no purchase.") }
    let known = try await client.send(.transaction(id)).payload
    if isOtherProduct(known, than: newest) { return refused("The App Store has another product for \(id).") }
    if let refusal = requirements.refusal(appAccountToken: known.appAccountToken) { return refused(refusal) }
    var revoked: [String: Timestamp] = [:]
    let ids = Set(purchases.compactMap(\.transactionId))
    if let date = known.revocationDate { revoked[id] = date }
    for try await refund in client.pages(.refundHistory(of: id)).map(\.payload) {
      if let id = refund.transactionId, ids.contains(id), let date = refund.revocationDate {
        revoked[id] = date
      }
    }
    return .response(
      RevocationFinding.response(
        revoked.sorted { $0.key < $1.key }.map {
          CheckerResponse.RevokedTransaction(transactionId: $0.key, revocationDate: $0.value)
        }, of: receipt, environment: environment))
  }
}

extension AppStoreServerError {
  fileprivate var isCancellation: Bool {
    if case .cancelled = cause { true } else { false }
  }
}

extension Timestamp {
  fileprivate static let distantPast = Timestamp(millisecondsSince1970: -Timestamp.greatestMagnitude)
}
