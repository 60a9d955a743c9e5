// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A ledger that merges verified facts about purchases into the current entitlement of each.
///
/// For each original transaction it merges notifications and the history from the App Store Server API. For each
/// purchase in Google Play (``playEntitlements``) it merges Google Play's answers.
///
/// The result depends only on the *set* of applied facts: any order, any repetition, and any split into ledgers that
/// are merged later give the same ledger. So deliveries need no queue and no lock. Apply each as it arrives, and merge
/// if two processes did so at once.
///
/// For each original transaction it keeps the latest transaction, the latest renewal information and a few small facts,
/// regardless of the number of renewals. It keeps every original transaction. A service with many customers stores one
/// ledger for each of them, as JSON in its own storage: ``encoded()``.
///
/// The rules are in <doc:Notifications>.
public struct EntitlementLedger: Sendable, Hashable {
  var lines: [Entitlement.ID: PurchaseLine] = [:]
  var consents: [RescindedConsent.Customer: ConsentFact] = [:]
  var playLines: [PlayEntitlement.ID: PlayPurchaseLine] = [:]

  /// Creates an empty ledger.
  public init() {}

  /// Applies a notification.
  ///
  /// - Returns: The original transaction concerned. It is `nil` for a notification about no transaction, such as
  ///   `TEST`, which changes at most ``rescindedConsents``.
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

  /// Applies a transaction from the App Store Server API or from a device.
  ///
  /// - Parameters:
  ///   - transaction: A verified signed transaction, from the transaction history for example.
  ///   - renewalInfo: The verified signed renewal info that came with it.
  ///   - status: The status that came with it (Get All Subscription Statuses).
  /// - Returns: The original transaction concerned.
  /// - Throws: ``EntitlementError`` for receipts of other kinds, for renewal information of another purchase, and for a
  ///   transaction that does not state its app, environment and identifiers.
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

  /// Merges another ledger into this one.
  public mutating func merge(_ other: EntitlementLedger) {
    for (id, line) in other.lines { join(line, to: id) }
    for (customer, fact) in other.consents { join(fact, to: customer) }
    for (id, line) in other.playLines { join(line, to: id) }
  }

  /// The entitlement of an original transaction; `nil` until one of its transactions is known.
  public subscript(id: Entitlement.ID) -> Entitlement? { lines[id]?.entitlement(id) }

  /// The entitlements of all original transactions, sorted by environment, app and identifier.
  public var entitlements: [Entitlement] {
    sortedIDs.compactMap { lines[$0]?.entitlement($0) }
  }

  /// The customers whose guardian withdrew consent to the app, sorted by environment, app and identifier.
  public var rescindedConsents: [RescindedConsent] {
    consents.keys.sorted().map { RescindedConsent(customer: $0, signedDate: consents[$0]?.signedDate) }
  }

  /// The number of original transactions and purchases in Google Play.
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

/// The reason why a receipt cannot be applied to a ledger.
public struct EntitlementError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code for the reason.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The verified receipt is of the wrong kind.
    case wrongKind = "wrong-kind"
    /// The app, environment or original transaction is not stated.
    case incomplete
    /// The transaction and the renewal info do not belong together.
    case differentPurchases = "different-purchases"
  }

  /// The code of the reason.
  public let code: Code
  /// A sentence that describes the reason.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension Entitlement.ID {
  /// Creates an identifier; `nil` if a value is missing or is not a valid identifier, which has one spelling and a
  /// limited length.
  init?(environment: ReceiptEnvironment?, bundleId: String?, originalTransactionId: String?) {
    guard let environment = environment?.category, let bundleId, let originalTransactionId,
      Self.isIdentifier(bundleId), Self.isIdentifier(originalTransactionId)
    else { return nil }
    self.init(environment: environment, bundleId: bundleId, originalTransactionId: originalTransactionId)
  }

  /// Returns `true` for 1 to 256 visible ASCII characters; Swift considers some other texts equal although their bytes
  /// differ.
  static func isIdentifier(_ text: String) -> Bool {
    1...256 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
