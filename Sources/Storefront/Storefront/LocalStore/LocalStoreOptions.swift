// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCodec
public import ReceiptSigning

extension LocalStore {
  /// Options of a local store.
  public struct Options: Sendable {
    package var engine: SubscriptionEngine.Options
    package var appAppleId: Int64?
    package var storefrontLocale: Locale
    package var authorization: AuthorizationPolicy
    package var authorize: (@Sendable (PurchasePrompt, String) async -> AuthorizationPolicy)?
    package var restrictedAccounts: Set<String>
    package var testAccounts: Set<String>
    package var delays: [Fault.Call: Duration]
    package var faults: [Fault]
    package var receipts: ReceiptFormat
    package var maximumQuantity: Int
    package var sink: (@Sendable (SignedNotification) async -> Void)?
    package var sleep: @Sendable (Duration) async throws -> Void

    /// Creates options.
    ///
    /// The environment is the sandbox unless `engine` sets another one: `receipt-tool verify --trust DIR/root.cer`
    /// then accepts the store's receipts without another flag. Never sell in the environment that production's servers
    /// accept unless the sales are real.
    ///
    /// - Parameters:
    ///   - engine: The app, the calendar of periods and the billing of renewals.
    ///   - appAppleId: The app's identifier in notifications, if any.
    ///   - storefrontLocale: The locale that formats prices: the storefront's, not the customer's.
    ///   - authorization: The decision about payments.
    ///   - authorize: Asks the customer, an account, and decides instead of `authorization`. It is called once for
    ///     each payment that the store would accept, and again if its first answer was lost in a crash.
    ///   - restrictedAccounts: Accounts that may not authorise payments, for example because of parental controls.
    ///   - testAccounts: Accounts for tests, which production refuses.
    ///   - delays: The delays before calls are processed.
    ///   - faults: Injected faults.
    ///   - receipts: The format of receipts.
    ///   - maximumQuantity: The greatest quantity of a consumable or non-renewing subscription in one payment.
    ///   - sink: Receives each notification, in order, after it was put into the outbox. After a crash it may receive
    ///     one again.
    ///   - sleep: Suspends for a duration; tests replace it.
    public init(
      engine: SubscriptionEngine.Options, appAppleId: Int64? = nil,
      storefrontLocale: Locale = Locale(identifier: "en_US"), authorization: AuthorizationPolicy = .approve,
      authorize: (@Sendable (PurchasePrompt, String) async -> AuthorizationPolicy)? = nil,
      restrictedAccounts: Set<String> = [], testAccounts: Set<String> = [],
      delays: [Fault.Call: Duration] = [:], faults: [Fault] = [],
      receipts: ReceiptFormat = .signedTransaction, maximumQuantity: Int = 10,
      sink: (@Sendable (SignedNotification) async -> Void)? = nil,
      sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
      self.engine = engine
      self.appAppleId = appAppleId
      self.storefrontLocale = storefrontLocale
      self.authorization = authorization
      self.authorize = authorize
      self.restrictedAccounts = restrictedAccounts
      self.testAccounts = testAccounts
      self.delays = delays
      self.faults = faults
      self.receipts = receipts
      self.maximumQuantity = maximumQuantity
      self.sink = sink
      self.sleep = sleep
    }

    /// Creates options for an app, with the defaults for everything else.
    public init(bundleIdentifier: String) {
      self.init(engine: SubscriptionEngine.Options(bundleIdentifier: bundleIdentifier))
    }

    /// The reason that an account cannot be used at this store; `nil` if it can.
    func signInRefusal(of account: String) -> StoreError? {
      if account.isEmpty { return StoreError(.clientInvalid, "Nobody is signed in to the store.") }
      guard engine.environment.category == .production, testAccounts.contains(account) else { return nil }
      return StoreError(
        .clientInvalid, "\"\(account)\" is a test account: sign in with another in production.")
    }

    /// The reason that an account cannot pay; `nil` if it can.
    func refusal(of account: String) -> StoreError? {
      if let refusal = signInRefusal(of: account) { return refusal }
      guard restrictedAccounts.contains(account) else { return nil }
      return StoreError(.paymentNotAllowed, "\"\(account)\" may not authorise payments.")
    }
  }

  /// The decision about payments.
  public enum AuthorizationPolicy: Sendable, Hashable {
    /// All are approved.
    case approve
    /// All are declined with this error.
    case decline(StoreError)
    /// A payment waits until the operator approves or declines it.
    case ask
  }

  /// The format of receipts.
  public enum ReceiptFormat: Sendable {
    /// A signed transaction: a JWS.
    case signedTransaction
    /// The property list of a transaction receipt, signed by an RSA identity of 2048 bits.
    case transactionReceipt(SigningIdentity)
  }

  /// A failure of calls, for tests.
  public struct Fault: Sendable, Hashable {
    /// A call to the store.
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

    /// The kind of failure.
    public enum Failure: Sendable, Hashable {
      /// The store refuses: the payment fails permanently. A call without such a result reports the store as
      /// unavailable.
      case error(StoreError)
      /// The store does nothing and does not answer.
      case unavailable(retryAfter: Duration?)
      /// The store performs the call, and its answer is lost.
      case answerLost
    }

    /// The call that fails.
    package var call: Call
    /// The kind of failure.
    package var failure: Failure
    /// The number of calls that fail.
    package var count: Int

    /// Creates a fault.
    public init(_ call: Call, _ failure: Failure, count: Int = 1) {
      self.call = call
      self.failure = failure
      self.count = count
    }
  }
}
