// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Foundation
  import HTTPTypes
  import HummingbirdCore
  import ReceiptCodec
  import ReceiptHTTP
  @testable import ReceiptService
  import ReceiptServiceClient
  import ReceiptTesting
  import ReceiptVerification
  import Testing

  /// Sends requests to the routes of a service without a network.
  private struct RouteTransport: HTTPTransport {
    let routes: RouteClient

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      let headers = Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
      do {
        let response = try await routes.send(
          try #require(HTTPRequest.Method(request.method.rawValue)), request.url.target, key: "",
          headers: headers,
          body: request.body ?? [])
        return RemoteResponse(
          status: response.status.code,
          headers: response.headers.map { HTTPHeader($0.name.rawName, $0.value) },
          body: Array(try await routes.text(of: response).utf8))
      } catch {
        throw HTTPTransportError(.connectionLost, "\(error)")
      }
    }
  }

  /// The client of `ReceiptServiceClient`, and the service itself: they mean the same by each answer.
  @Suite struct ServerClientTests {
    private static let premium = NamedEntitlement(
      name: "premium", products: [SampleReceipts.transaction.productId ?? ""])

    private static func withClient(
      _ scopes: Set<Scope>,
      _ body: (_ service: ServiceFixture, _ client: ReceiptServerClient) async throws -> Void
    ) async throws {
      try await withService(on: .sqlite) { service in
        service.app.entitlements = [premium]
        let api = try ReceiptAPI(
          ServiceConfiguration(apps: [service.app]), database: service.database, clock: service.clock.reading)
        let key = try await api.createKey(name: "client", scopes: scopes)
        let client = ReceiptServerClient(
          at: try RemoteURL("https://receipts.example.com"), key: Secret(key), app: "shop",
          transport: RouteTransport(routes: RouteClient(api)), retry: RetryPolicy(maximumAttempts: 1))
        try await body(service, client)
      }
    }

    @Test("a notification, what it entitles to, and its changes")
    func entitlements() async throws {
      try await Self.withClient([.read, .grant, .verify]) { service, client in
        let transaction = ServiceFixture.period(1)
        let notification = try service.body(.subscribed, day: 0, transaction)
        try await client.receiveNotification("shop", notification: notification)
        let original = try #require(transaction.originalTransactionId)
        let owned = try #require(try await client.getEntitlement(original).entitlements.first)
        guard case .entitlement(let entitlement) = owned.entitlement else {
          Issue.record("it is \(owned.entitlement)")
          return
        }
        #expect(entitlement.originalTransactionId == original && entitlement.grantsAccess)
        #expect(entitlement.standing == .active && entitlement.expiresDate == transaction.expiresDate)
        #expect(owned.customer == ServiceFixture.customer)

        let answer = try await client.getCustomerEntitlements(ServiceFixture.customer)
        #expect(
          answer.grantsAccess(to: "premium") && !answer.grantsAccess(to: "gold") && answer.entityTag != nil)
        #expect(answer.access?.first?.source == .appStore && answer.access?.first?.reasons?.count == 1)
        #expect(try await client.getCustomerEntitlements(ServiceFixture.customer, known: answer) == answer)

        let granted = try await client.grantEntitlement(
          "bob", grant: ServerNewGrant(entitlement: "premium", reason: "a test"))
        #expect(granted.grant.grantsAccess && granted.grant.state == "active" && granted.access.count == 1)
        let withdrawn = try await client.withdrawGrant("bob", grant: granted.grant.grantId, reason: "over")
        #expect(!withdrawn.grant.grantsAccess && withdrawn.grant.withdrawalReason == "over")

        var changes: [ServerToldChange] = []
        for try await change in client.allGetChanges(limit: 1) { changes.append(change) }
        #expect(
          changes.map(\.change.type) == ["entitlement.granted", "entitlement.granted", "entitlement.revoked"])
        guard case .grant(let last)? = changes.last?.change.data.entitlement else {
          Issue.record("the last change is about no grant")
          return
        }
        #expect(last.grantId == granted.grant.grantId)
        #expect(try await client.getEntitlementHistory(original).changes.count == 1)
        await #expect { _ = try await client.getChanges(since: 100) } throws: {
          let error = $0 as? ReceiptServerError
          return error?.code == .refused && error?.problem?.code == "beyond-end" && error?.status == 409
        }
      }
    }

    @Test("verdicts on receipts, one by one, of a customer, and in a batch")
    func verdicts() async throws {
      try await Self.withClient([.verify]) { service, client in
        let transaction = ServiceFixture.period(1)
        let receipt = try service.receipt(transaction, day: 0).encoded
        let verdict = try await client.verify(receipt)
        #expect(verdict.isValid && verdict.format == "signed-transaction" && verdict.environment == .sandbox)
        let purchase = try #require(verdict.transactions?.first)
        #expect(purchase.transactionId == transaction.transactionId && purchase.price == transaction.price)
        #expect(verdict.activePurchases.count == (verdict.standing == .active ? 1 : 0))
        var altered = receipt
        altered[altered.count - 20] = altered[altered.count - 20] == 0x41 ? 0x42 : 0x41
        let refused = try await client.verify(altered)
        #expect(!refused.isValid && !refused.shouldRetry && refused.reason?.code == "signature-mismatch")
        #expect(try await client.verifyBatch([receipt, altered]).map(\.verdict) == [.valid, .invalid])
        let presented = try await client.presentReceipt(ServiceFixture.customer, receipt: receipt)
        #expect(presented.verdict.isValid && presented.entitlements.count == 1)
        #expect(try await client.inspect(receipt).verified == false)
        await #expect { _ = try await client.presentReceipt("somebody else", receipt: receipt) } throws: {
          ($0 as? ReceiptServerError)?.problem?.code == "other-customer"
        }
        await #expect { _ = try await client.lookUp(ServerReference(transactionId: "1")) } throws: {
          ($0 as? ReceiptServerError)?.problem?.code == "no-credentials"
        }
        await #expect { _ = try await client.getEntitlement("1") } throws: {
          ($0 as? ReceiptServerError)?.problem?.code == "missing-scope"
        }
      }
    }

    @Test("what administrators do")
    func administration() async throws {
      try await Self.withClient([.admin, .read]) { _, client in
        let made = try await client.createKey(ServerNewKey(name: "reader", scopes: [.read], app: "shop"))
        #expect(made.key.hasPrefix("rk_\(made.id)_"))
        let listed = try #require(try await client.listKeys().keys.first { $0.id == made.id })
        #expect(listed.name == "reader" && listed.scopes == [.read] && listed.revoked == nil)
        try await client.revokeKey(made.id)
        #expect(try await client.listKeys().keys.first { $0.id == made.id }?.revoked != nil)
        var acts: [String] = []
        for try await act in client.allListAdministrativeActs(limit: 1) { acts.append(act.act) }
        #expect(acts.starts(with: ["key.revoke", "key.create"]))
        #expect(try await client.listWebhooks().endpoints.isEmpty)
        #expect(try await client.eraseCustomer("nobody").purchases == 0)
        #expect(try await client.getHealth() == "ok\n")
        #expect(try await client.getDescription()["openapi"]?.string == "3.1.0")
        #expect(try await client.listRefundReviews().reviews.isEmpty)
      }
    }
  }
#endif
