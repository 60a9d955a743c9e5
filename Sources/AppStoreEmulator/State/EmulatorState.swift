// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What an emulated App Store knows.
public struct EmulatorState: Sendable {
  /// A purchase.
  public struct TransactionRecord: Sendable, Hashable {
    /// What is signed for.
    public var transaction: JWSTransaction
    /// The order on the customer's invoice.
    public var orderId: String?
    /// Whether the app finished it.
    public var isFinished = false
    /// The consumption that the developer reported, the JSON as it came.
    public var consumption: [JSONValue] = []
    /// Whose it is.
    var customer: Int
    /// Grows with each change of any purchase: history is sorted by it.
    var modification: Int64
  }

  /// An auto-renewable subscription.
  public struct Subscription: Sendable, Hashable {
    /// Its status, 1 to 5.
    public var status: SubscriptionStatus
    /// What happens next.
    public var renewalInfo: JWSRenewalInfo
    /// The latest purchase of it.
    public var latestTransactionId: String
    /// When the developer extended it.
    public var extensions: [Timestamp] = []
  }

  /// All there is of one customer.
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

  /// Where notifications go; `nil` where the developer set none. The emulator sends none itself.
  public var notificationURL: String? = "https://example.com/notifications"
  /// How many questions about something that takes time are answered with not yet: test notifications, mass
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

  /// What the developer sent to the Advanced Commerce API, the JSON as it came.
  public var advancedCommerceRequests: [JSONValue] { advancedCommerceCalls }
}
