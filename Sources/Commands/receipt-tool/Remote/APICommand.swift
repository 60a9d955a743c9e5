// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import AppStoreServer
import CommandOutput
import ReceiptHTTPCurl
import ReceiptSigning
import ReceiptVerification

extension APIOptions {
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

extension APITransactionsInfoCommand {
  func run() async throws { try await options.show(.transaction(transactionId)) }
}

extension APITransactionsHistoryCommand {
  func run() async throws {
    let filter = TransactionHistoryFilter().with {
      $0.productIds = productIds
      $0.sort = descending ? .descending : nil
      $0.revoked = revoked ? true : nil
    }
    try await options.show(.transactionHistory(of: transactionId, filter: filter), of: .transactionHistory)
  }
}

extension APITransactionsRefundsCommand {
  func run() async throws {
    try await options.show(.refundHistory(of: transactionId), of: .refundHistory)
  }
}

extension APITransactionsOrderCommand {
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

extension APITransactionsAppCommand {
  func run() async throws { try await options.show(.appTransaction(of: transactionId)) }
}

extension APISubscriptionsStatusCommand {
  func run() async throws {
    try await options.withClient { client in
      for subscription in try await client.send(.subscriptionStatuses(of: transactionId)) {
        let object = JSONWriter.bytes { object in
          object.member("originalTransactionId", subscription.originalTransactionId)
          object.member("subscriptionGroupIdentifier", subscription.subscriptionGroupIdentifier)
          object.member("status", subscription.status.rawValue)
          object.member("transaction", options.json(of: subscription.purchase.transaction))
          if let renewalInfo = subscription.purchase.renewalInfo {
            object.member("renewalInfo", options.json(of: renewalInfo))
          }
        }
        try options.show(object, of: .subscriptionStatuses)
      }
    }
  }
}

extension APINotificationsHistoryCommand {
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

extension APINotificationsTestCommand {
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

extension APINotificationsTestStatusCommand {
  func run() async throws {
    try await options.withClient { client in
      let sent = try await client.send(.testNotificationStatus(token))
      let attempts = sent.sendAttempts.compactMap { try? JSONValue(parsing: $0.encodedJSON()) }
      let object = JSONWriter.bytes {
        $0.member("sendAttempts", .array(attempts))
        $0.member("notification", options.json(of: sent.notification))
      }
      try options.show(object, of: .testNotificationStatus)
    }
  }
}
