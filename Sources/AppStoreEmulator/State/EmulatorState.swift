// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The state of an emulated App Store.
public struct EmulatorState: Sendable {
  /// A purchase.
  public struct TransactionRecord: Sendable, Hashable {
    /// What is signed for.
    public var transaction: JWSTransaction
    /// The order on the customer's invoice.
    public var orderId: String?
    /// Whether the app finished it.
    public var isFinished = false
    /// The consumption information that the developer sent, as JSON.
    public var consumption: [JSONValue] = []
    /// The customer.
    var customer: Int
    /// A counter of changes to all purchases, by which the history is sorted.
    var modification: Int64
  }

  /// An auto-renewable subscription.
  public struct Subscription: Sendable, Hashable {
    /// Its status, 1 to 5.
    public var status: SubscriptionStatus
    /// The renewal information.
    public var renewalInfo: JWSRenewalInfo
    /// Its latest purchase.
    public var latestTransactionId: String
    /// The dates of the developer's extensions.
    public var extensions: [Timestamp] = []
  }

  /// The data of one customer.
  struct Customer: Sendable {
    /// In the order of modification.
    var transactionIds: [String] = []
    var originalTransactionIds: [String] = []
    var appTransaction: AppTransaction?
  }

  var customers: [Customer] = []
  /// By original transaction identifier, app transaction identifier or a name of the caller's.
  var customerIndices: [String: Int] = [:]
  var transactions: [String: TransactionRecord] = [:]
  var subscriptions: [String: Subscription] = [:]
  var orders: [String: [String]] = [:]
  var modifications: Int64 = 0

  /// The developer's notification URL, if any. The emulator does not send notifications itself.
  public var notificationURL: String? = "https://example.com/notifications"
  /// The number of status requests for asynchronous operations that are answered as pending: test notifications, mass
  /// extensions, performance tests.
  public var pendingAnswers = 0
  var notifications: [NotificationRecord] = []
  var testNotifications: [String: TestNotification] = [:]
  var massExtensions: [String: MassExtension] = [:]
  var messaging = Messaging()
  var groups: [String: Group] = [:]
  var advancedCommerceCalls: [JSONValue] = []

  /// Nothing.
  public init() {}

  /// The customer that any of an original transaction, a transaction and an app transaction belongs to.
  func customer(of identifier: String) -> Int? {
    transactions[identifier]?.customer ?? customerIndices[identifier]
  }

  /// A purchase, by its transaction identifier.
  public func transaction(_ transactionId: String) -> TransactionRecord? { transactions[transactionId] }

  /// A subscription, by its original transaction identifier.
  public func subscription(_ originalTransactionId: String) -> Subscription? {
    subscriptions[originalTransactionId]
  }

  /// The developer's requests to the Advanced Commerce API, as JSON.
  public var advancedCommerceRequests: [JSONValue] { advancedCommerceCalls }
}
