// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptSigning

extension LocalStore {
  /// How a store in this process does its business.
  public struct Options: Sendable {
    /// Whose store it is, how periods are counted and renewals billed.
    public var engine: SubscriptionEngine.Options
    /// The app's identifier that notifications state; `nil`: none.
    public var appAppleId: Int64?
    /// The locale that prices are formatted by: that of the storefront, not of the customer.
    public var storefrontLocale: Locale
    /// Whether payments are authorised.
    public var authorization: AuthorizationPolicy
    /// How long an answer to a payment takes.
    public var delay: Duration
    /// What goes wrong.
    public var faults: [Fault]
    /// What a receipt is.
    public var receipts: ReceiptFormat
    /// The most of a consumable or non-renewing subscription that one payment may buy.
    public var maximumQuantity: Int
    /// Is told of each notification, in order, once it is in the outbox; after a crash maybe again.
    public var sink: (@Sendable (SignedNotification) async -> Void)?
    /// Waits. Tests pass their own.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates options.
    ///
    /// The environment is the sandbox unless `engine` says otherwise: `receipt-tool verify --trust DIR/root.cer`
    /// accepts what the store issues without another flag. Never sell in the environment that production's servers
    /// accept unless what is sold there is real.
    public init(
      engine: SubscriptionEngine.Options, appAppleId: Int64? = nil,
      storefrontLocale: Locale = Locale(identifier: "en_US"), authorization: AuthorizationPolicy = .approve,
      delay: Duration = .zero, faults: [Fault] = [], receipts: ReceiptFormat = .signedTransaction,
      maximumQuantity: Int = 10, sink: (@Sendable (SignedNotification) async -> Void)? = nil,
      sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
      self.engine = engine
      self.appAppleId = appAppleId
      self.storefrontLocale = storefrontLocale
      self.authorization = authorization
      self.delay = delay
      self.faults = faults
      self.receipts = receipts
      self.maximumQuantity = maximumQuantity
      self.sink = sink
      self.sleep = sleep
    }

    /// Options for an app, and the defaults for everything else.
    public init(bundleIdentifier: String) {
      self.init(engine: SubscriptionEngine.Options(bundleIdentifier: bundleIdentifier))
    }
  }

  /// Whether payments are authorised.
  public enum AuthorizationPolicy: Sendable, Hashable {
    /// All are.
    case approve
    /// None is.
    case decline(StoreError)
    /// Somebody is asked: a payment waits until it is approved or declined.
    case ask
  }

  /// What a receipt is.
  public enum ReceiptFormat: Sendable {
    /// A signed transaction: a JWS.
    case signedTransaction
    /// The property list of a transaction receipt, signed by an RSA identity of 2048 bits.
    case transactionReceipt(SigningIdentity)
  }

  /// A call that goes wrong, for tests.
  public struct Fault: Sendable, Hashable {
    /// What is asked of the store.
    public enum Call: String, Sendable, Hashable, CaseIterable {
      /// ``Store/products(for:preferredLocales:)``.
      case products
      /// ``Store/purchase(_:)``.
      case purchase
      /// ``Store/unfinishedTransactions(after:limit:)``.
      case unfinished
      /// ``Store/finish(transactionIdentifier:)``.
      case finish
      /// ``Store/restore(_:after:limit:)``.
      case restore
    }

    /// How it goes wrong.
    public enum Failure: Sendable, Hashable {
      /// The store says no. A payment has failed for good; of calls that cannot fail the store is unavailable.
      case error(StoreError)
      /// The store does nothing, and gives no answer.
      case unavailable(retryAfter: Duration?)
      /// The store does what it is asked, and its answer is lost.
      case answerLost
    }

    /// Which call.
    public var call: Call
    /// How it goes wrong.
    public var failure: Failure
    /// How many of the next calls.
    public var count: Int

    /// Creates a fault.
    public init(_ call: Call, _ failure: Failure, count: Int = 1) {
      self.call = call
      self.failure = failure
      self.count = count
    }
  }
}
