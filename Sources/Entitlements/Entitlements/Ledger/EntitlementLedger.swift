// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// Folds verified notifications, and history from the App Store Server API, into the current entitlement of
/// each original transaction; and what Google Play answers into that of each purchase there (``playEntitlements``).
///
/// The result depends on the *set* of what was applied: any order, any repetition, and any split into ledgers
/// that are merged later give the same ledger. So deliveries need no queue and no lock: fold each as it
/// comes, and when two processes did so at once, merge.
///
/// Of each original transaction it keeps the latest transaction, the latest renewal information and a few small
/// facts, however often it renewed. It keeps every original transaction; a service with many customers holds
/// one ledger for each of them, as JSON in its own storage: ``encoded()``.
///
/// The rules are in <doc:Notifications>.
public struct EntitlementLedger: Sendable, Hashable {
  var lines: [Entitlement.ID: PurchaseLine] = [:]
  var consents: [RescindedConsent.Customer: ConsentFact] = [:]
  var playLines: [PlayEntitlement.ID: PlayPurchaseLine] = [:]

  /// Creates an empty ledger.
  public init() {}

  /// Folds a notification in.
  ///
  /// - Returns: The original transaction concerned, or `nil` for a notification that is about none, such as
  ///   `TEST`; such a one changes nothing but ``rescindedConsents``.
  @discardableResult
  public mutating func apply(_ notification: AppStoreNotification) -> Entitlement.ID? {
    if let customer = RescindedConsent.Customer(notification) {
      join(
        ConsentFact(
          signedDate: notification.signedDate, notificationUUID: notification.uuid), to: customer)
    }
    guard
      let id = Entitlement.ID(
        environment: notification.environment, bundleId: notification.bundleId,
        originalTransactionId: notification.transaction?.originalTransactionId
          ?? notification.renewalInfo?.originalTransactionId)
    else { return nil }
    join(
      PurchaseLine(
        notification.notification, transaction: notification.transaction,
        renewalInfo: notification.renewalInfo, signedDate: notification.signedDate), to: id)
    return id
  }

  /// Folds in what the App Store Server API, or a device, states about a purchase.
  ///
  /// - Parameters:
  ///   - transaction: A verified signed transaction, of the transaction history for example.
  ///   - renewalInfo: The verified signed renewal info that came with it.
  ///   - status: The status that came with it (Get All Subscription Statuses).
  /// - Returns: The original transaction concerned.
  /// - Throws: ``EntitlementError`` for receipts of other kinds, renewal information of another purchase, or a
  ///   transaction that does not state app, environment and identifiers.
  @discardableResult
  public mutating func apply(
    transaction: VerifiedReceipt, renewalInfo: VerifiedReceipt? = nil, status: SubscriptionStatus? = nil
  ) throws(EntitlementError) -> Entitlement.ID {
    guard case .jws(.transaction(let payload)) = transaction.content else {
      throw EntitlementError(.wrongKind, "This is a \(transaction.kind.rawValue), not a signed transaction.")
    }
    guard
      let id = Entitlement.ID(
        environment: transaction.environment, bundleId: transaction.bundleId,
        originalTransactionId: payload.originalTransactionId)
    else {
      throw EntitlementError(
        .incomplete, "The transaction does not state its app, environment and original transaction.")
    }
    var renewalPayload: JWSRenewalInfo?
    if let renewalInfo {
      guard case .jws(.renewalInfo(let payload)) = renewalInfo.content else {
        throw EntitlementError(.wrongKind, "This is a \(renewalInfo.kind.rawValue), not signed renewal info.")
      }
      guard FactOrder.isLower(payload.originalTransactionId, id.originalTransactionId) == nil,
        renewalInfo.environment?.category == id.environment
      else {
        throw EntitlementError(
          .differentPurchases, "Transaction and renewal info are of different purchases or environments.")
      }
      renewalPayload = payload
    }
    let signedDate = [transaction.signedAt, renewalInfo?.signedAt].compactMap(\.self).max()
    join(
      PurchaseLine(
        transaction: payload, renewalInfo: renewalPayload, status: status, signedDate: signedDate), to: id)
    return id
  }

  /// Folds in all that another ledger knows.
  public mutating func merge(_ other: EntitlementLedger) {
    for (id, line) in other.lines { join(line, to: id) }
    for (customer, fact) in other.consents { join(fact, to: customer) }
    for (id, line) in other.playLines { join(line, to: id) }
  }

  /// The entitlement of an original transaction; `nil` while no transaction of it is known.
  public subscript(id: Entitlement.ID) -> Entitlement? { lines[id]?.entitlement(id) }

  /// The entitlements of all original transactions, by environment, app and identifier.
  public var entitlements: [Entitlement] {
    sortedIDs.compactMap { lines[$0]?.entitlement($0) }
  }

  /// The customers whose guardian withdrew consent to the app, by environment, app and identifier.
  public var rescindedConsents: [RescindedConsent] {
    consents.keys.sorted().map { RescindedConsent(customer: $0, signedDate: consents[$0]?.signedDate) }
  }

  /// How many original transactions, and purchases in Google Play, it knows of.
  package var count: Int { lines.count + playLines.count }

  mutating func join(_ line: PurchaseLine, to id: Entitlement.ID) {
    lines[id, default: PurchaseLine()].join(line)
  }

  mutating func join(_ fact: ConsentFact, to customer: RescindedConsent.Customer) {
    consents[customer] = .higher(consents[customer], fact)
  }

  var sortedIDs: [Entitlement.ID] {
    lines.keys.sorted { left, right in
      FactOrder.isLower(left.environment.rawValue, right.environment.rawValue)
        ?? FactOrder.isLower(left.bundleId, right.bundleId)
        ?? FactOrder.isLower(identifier: left.originalTransactionId, right.originalTransactionId)
        ?? false
    }
  }
}

/// What cannot be folded into a ledger.
public struct EntitlementError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A verified receipt of a kind that does not belong here.
    case wrongKind = "wrong-kind"
    /// App, environment or original transaction is not stated.
    case incomplete
    /// Transaction and renewal info do not belong together.
    case differentPurchases = "different-purchases"
  }

  /// What is wrong.
  public let code: Code
  /// The same for a person.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension Entitlement.ID {
  /// `nil` unless all is stated, in identifiers of sensible length that have one spelling each.
  init?(environment: ReceiptEnvironment?, bundleId: String?, originalTransactionId: String?) {
    guard let environment = environment?.category, let bundleId, let originalTransactionId,
      Self.isIdentifier(bundleId), Self.isIdentifier(originalTransactionId)
    else { return nil }
    self.init(environment: environment, bundleId: bundleId, originalTransactionId: originalTransactionId)
  }

  /// Visible ASCII: Swift calls some other texts equal although their bytes differ.
  static func isIdentifier(_ text: String) -> Bool {
    1...256 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
