// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import AppStoreServer
import ReceiptHTTPCurl
import ReceiptSigning
import ReceiptVerification

struct APICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api",
    abstract: "Call the App Store Server API: transactions, subscriptions, notifications.",
    discussion: """
      Answers are printed as the App Store gives them, one JSON object a line;
      signed parts are verified first, and printed decoded. With --json each is the
      member response of an object that also names the endpoint.

      EXAMPLES:
        receipt-tool api transactions history 2000000001 \\
          --credentials app-store.json
        receipt-tool api subscriptions status 2000000001 \\
          --credentials app-store.json
        receipt-tool api transactions refunds 2000000001 \\
          --credentials app-store.json --environment sandbox
        receipt-tool api notifications history --from 2025-10-01T00:00:00Z \\
          --credentials app-store.json
        receipt-tool api notifications test --credentials app-store.json

      EXIT CODES:
        0 answered; 1 refused, or a signed part is not genuine; 2 no answer now, try
        again later; 64 wrong command line or missing credentials; 66 a file cannot
        be read; 74 the output cannot be written.
      """,
    subcommands: [APITransactionsCommand.self, APISubscriptionsCommand.self, APINotificationsCommand.self])
}

/// The options of every call.
struct APIOptions: ParsableArguments {
  @OptionGroup(title: "Credentials") var credentials: CredentialOptions
  @OptionGroup(title: "Servers") var servers: ServerOptions
  @OptionGroup(title: "Trust") var trust: TrustOptions

  @Option("bundle-id", "The app. Environment: RECEIPTKIT_BUNDLE_ID.", value: "ID") var bundleId: String?

  @Option("environment", "production or sandbox.") var environment: ReceiptEnvironment.Category = .production

  @Flag("raw", "Print signed parts in compact form after verifying them.") var raw = false

  @Flag("json", "Print each answer as the member response of a JSON object with its endpoint.")
  var json = false

  func validate() throws {
    guard environment == .production || environment == .sandbox else {
      throw ValidationError("--environment takes production or sandbox.")
    }
    try refuse(
      ["--sandbox-base-url": servers.sandboxBase != nil], unless: environment == .sandbox,
      "needs --environment sandbox")
    try refuse(
      ["--admit-xcode": trust.admitsXcode], unless: false, "has no effect: the App Store sends no test data")
  }

  /// Creates a client, runs calls with it, and shuts down its transport.
  func withClient(_ calls: (AppStoreServerClient) async throws -> Void) async throws {
    let signer = try credentials.signer(bundleId: bundleId)
    let resolved = try trust.resolve()
    let verifier = ReceiptVerifier(
      trust: resolved.anchors,
      policy: VerificationPolicy(bundleIds: .oneOf([signer.bundleId]), environments: [environment]),
      intermediates: resolved.intermediates)
    let address = try servers.address(environment)
    let transport = servers.transport()
    defer { transport.shutdown() }
    let client = AppStoreServerClient(
      transport: transport, signer: signer, address: address, verifier: verifier, retry: servers.retry)
    do {
      try await calls(client)
    } catch let error as AppStoreServerError {
      throw ToolExit.failure(error.isRetryable ? ExitCode.undetermined : ExitCode.invalid, error.description)
    }
  }

  func show<Response, Payload: WirePayload>(
    _ call: AppStoreServerCall<Response, VerifiedPayload<Payload>>
  ) async throws {
    try await withClient { client in try show(await client.send(call), of: call.endpoint) }
  }

  func show<Response, Payload: WirePayload>(
    _ call: AppStoreServerPagedCall<Response, VerifiedPayload<Payload>>, of endpoint: AppStoreServerEndpoint
  ) async throws {
    try await withClient { client in
      for try await part in client.pages(call) { try show(part, of: endpoint) }
    }
  }

  func show(_ part: VerifiedPayload<some WirePayload>, of endpoint: AppStoreServerEndpoint) throws {
    guard raw else { return try show(part.payload.encodedJSON(), of: endpoint) }
    let object = Output.APIResponse(endpoint: endpoint.rawValue, response: .string(part.compact))
    try writeAll(json ? object.line() : Array("\(part.compact)\n".utf8))
  }

  /// The payload of a part that is a member of a larger answer, or with `--raw` its compact form.
  func json(of part: VerifiedPayload<some WirePayload>) -> JSONValue {
    let payload = raw ? nil : try? JSONValue(parsing: part.payload.encodedJSON())
    return payload ?? .string(part.compact)
  }

  func show(_ response: [UInt8], of endpoint: AppStoreServerEndpoint) throws {
    try Output.APIResponse.write(response, of: endpoint.rawValue, json: json)
  }

}

struct APITransactionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transactions", abstract: "Transactions: one, a history, refunds, an order, the app's own.",
    subcommands: [Info.self, History.self, Refunds.self, Order.self, App.self])

  struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show one transaction.")
    @OptionGroup var options: APIOptions
    @Argument("The transaction's identifier.") var transactionId: String

    func run() async throws { try await options.show(.transaction(transactionId)) }
  }

  struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List all transactions of a customer.")
    @OptionGroup var options: APIOptions
    @Argument("Any transaction of the customer.") var transactionId: String
    @Option("product", "Only this product. May be repeated.") var productIds: [String] = []
    @Flag("revoked", "Only refunded or revoked transactions.") var revoked = false
    @Flag("descending", "The latest change first.") var descending = false

    func run() async throws {
      let filter = TransactionHistoryFilter().with {
        $0.productIds = productIds
        $0.sort = descending ? .descending : nil
        $0.revoked = revoked ? true : nil
      }
      try await options.show(.transactionHistory(of: transactionId, filter: filter), of: .transactionHistory)
    }
  }

  struct Refunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the refunded transactions of a customer.")
    @OptionGroup var options: APIOptions
    @Argument("Any transaction of the customer.") var transactionId: String

    func run() async throws {
      try await options.show(.refundHistory(of: transactionId), of: .refundHistory)
    }
  }

  struct Order: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the transactions of an order.")
    @OptionGroup var options: APIOptions
    @Argument("The identifier in the customer's invoice.") var orderId: String

    func run() async throws {
      try await options.withClient { client in
        guard let transactions = try await client.send(.orderLookup(orderId)) else {
          note("receipt-tool: the App Store does not know the order \(orderId) as one of this app")
          return
        }
        for transaction in transactions { try options.show(transaction, of: .orderLookup) }
      }
    }
  }

  struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the purchase or download of the app itself.")
    @OptionGroup var options: APIOptions
    @Argument("Any transaction of the customer.") var transactionId: String

    func run() async throws { try await options.show(.appTransaction(of: transactionId)) }
  }
}

struct APISubscriptionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions", abstract: "Subscriptions: their status.", subcommands: [Status.self])

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the status of all subscriptions of a customer.")
    @OptionGroup var options: APIOptions
    @Argument("Any transaction of the customer.") var transactionId: String

    func run() async throws {
      try await options.withClient { client in
        for subscription in try await client.send(.subscriptionStatuses(of: transactionId)) {
          var object = JSONWriter()
          object.beginObject()
          object.member("originalTransactionId", subscription.originalTransactionId)
          object.member("subscriptionGroupIdentifier", subscription.subscriptionGroupIdentifier)
          object.member("status", subscription.status.rawValue)
          object.member("transaction", options.json(of: subscription.purchase.transaction))
          if let renewalInfo = subscription.purchase.renewalInfo {
            object.member("renewalInfo", options.json(of: renewalInfo))
          }
          object.endObject()
          try options.show(object.bytes, of: .subscriptionStatuses)
        }
      }
    }

  }
}

struct APINotificationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications", abstract: "Sent notifications, and tests.",
    subcommands: [History.self, Test.self, TestStatus.self])

  struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the notifications that were sent.")
    @OptionGroup var options: APIOptions
    @Option("from", "The first instant; by default a day ago.", value: "ISO8601") var from: String?
    @Option("to", "The last instant; by default now.", value: "ISO8601") var to: String?
    @Option("type", "Only this notificationType.") var type: String?
    @Option("transaction", "Only of this transaction.") var transactionId: String?
    @Flag("only-failures", "Only those that did not reach the server.") var onlyFailures = false

    func run() async throws {
      let now = SystemClock.now()
      let request = NotificationHistoryRequest(
        startDate: try from.map { try parseInstant($0, "--from") } ?? now.addingSeconds(-86_400),
        endDate: try to.map { try parseInstant($0, "--to") } ?? now
      ).with {
        $0.notificationType = type.map { NotificationType(rawValue: $0) }
        $0.transactionId = transactionId
        $0.onlyFailures = onlyFailures ? true : nil
      }
      try await options.withClient { client in
        for try await sent in client.pages(.notificationHistory(request)) {
          try options.show(sent.notification, of: .notificationHistory)
        }
      }
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Have the App Store send a test notification; prints its token.")
    @OptionGroup var options: APIOptions

    func validate() throws {
      try refuse(
        [
          "--raw": options.raw, "--trust": !options.trust.trusted.isEmpty,
          "--intermediate": !options.trust.intermediateFiles.isEmpty,
        ], unless: false, "has no effect: the answer has no signed part")
    }

    func run() async throws {
      try await options.withClient { client in
        try options.show(
          await client.send(.requestTestNotification()).encodedJSON(), of: .requestTestNotification)
      }
    }
  }

  struct TestStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test-status", abstract: "Show the delivery of a test notification.")
    @OptionGroup var options: APIOptions
    @Argument("The token that \"test\" printed.") var token: String

    func run() async throws {
      try await options.withClient { client in
        let sent = try await client.send(.testNotificationStatus(token))
        var object = JSONWriter()
        object.beginObject()
        let attempts = sent.sendAttempts.compactMap { try? JSONValue(parsing: $0.encodedJSON()) }
        object.member("sendAttempts", .array(attempts))
        object.member("notification", options.json(of: sent.notification))
        object.endObject()
        try options.show(object.bytes, of: .testNotificationStatus)
      }
    }
  }
}
