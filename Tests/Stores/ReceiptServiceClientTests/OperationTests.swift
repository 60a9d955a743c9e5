// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import ReceiptServiceClient
import Testing

/// The operations of the client, and those of the committed description.
@Suite struct OperationTests {
  private typealias Use = @Sendable (ReceiptServerClient) async throws -> Void

  private static let grant = ServerNewGrant(entitlement: "e", reason: "r")
  private static let calls: [String: Use] = [
    "verify": { _ = try await $0.verify([1], policy: "p", app: "a", customer: "c") },
    "verifyBatch": { _ = try await $0.verifyBatch([[1]]) },
    "lookUp": { _ = try await $0.lookUp(ServerReference(transactionId: "1")) },
    "inspect": { _ = try await $0.inspect([1]) },
    "getEntitlement": { _ = try await $0.getEntitlement("1") },
    "getEntitlementHistory": { _ = try await $0.getEntitlementHistory("1") },
    "getCustomerEntitlements": { _ = try await $0.getCustomerEntitlements("1") },
    "grantEntitlement": { _ = try await $0.grantEntitlement("1", grant: grant) },
    "withdrawGrant": { _ = try await $0.withdrawGrant("1", grant: "1") },
    "listRefundReviews": { _ = try await $0.listRefundReviews(state: "open") },
    "getRefundReview": { _ = try await $0.getRefundReview("1") },
    "stateRefundEvidence": {
      _ = try await $0.stateRefundEvidence("1", refundAnswer: ServerNewRefundAnswer())
    },
    "answerRefundReview": { _ = try await $0.answerRefundReview("1", refundAnswer: ServerNewRefundAnswer()) },
    "previewRefundAnswer": {
      _ = try await $0.previewRefundAnswer("1", refundAnswer: ServerNewRefundAnswer())
    },
    "getKeySet": { _ = try await $0.getKeySet("1") },
    "presentReceipt": { _ = try await $0.presentReceipt("1", receipt: [1]) },
    "eraseCustomer": { _ = try await $0.eraseCustomer("1") },
    "getChanges": { _ = try await $0.getChanges(since: 1) },
    "receiveNotification": { try await $0.receiveNotification("1", notification: [1]) },
    "findEntries": { _ = try await $0.findEntries(customer: "c") },
    "getEntry": { _ = try await $0.getEntry(1) },
    "getProof": { _ = try await $0.getProof(1) },
    "getLogFile": { _ = try await $0.getLogFile("tile/0/000") },
    "listWebhooks": { _ = try await $0.listWebhooks() },
    "listDeadLetters": { _ = try await $0.listDeadLetters("1") },
    "replayWebhooks": { _ = try await $0.replayWebhooks("1", id: "m") },
    "listKeys": { _ = try await $0.listKeys() },
    "createKey": { _ = try await $0.createKey(ServerNewKey(name: "n", scopes: [.read])) },
    "revokeKey": { try await $0.revokeKey("1") },
    "listAdministrativeActs": { _ = try await $0.listAdministrativeActs() },
    "getHealth": { _ = try await $0.getHealth() },
    "getDescription": { _ = try await $0.getDescription() },
    "getReadiness": { _ = try await $0.getReadiness() },
    "verifyClientPurchase": { _ = try await $0.verifyClientPurchase(ServerOpenIAPPurchase(store: "apple")) },
    "verifyClientPurchaseWithPrefix": {
      _ = try await $0.verifyClientPurchaseWithPrefix(ServerOpenIAPPurchase(store: "apple"))
    },
    "verifyClientPurchaseAlias": {
      _ = try await $0.verifyClientPurchaseAlias(ServerOpenIAPPurchase(store: "apple"))
    },
    "verifyReceipt": { _ = try await $0.verifyReceipt(ServerVerifyReceiptRequest(receiptData: "r")) },
    "validateCordovaPurchase": {
      _ = try await $0.validateCordovaPurchase(ServerCordovaValidation(id: "i", transaction: .object([])))
    },
  ]

  /// The operations of the description: method, path and whether a key is needed, by their names.
  private static func described() throws -> [String: (line: String, isKeyed: Bool)] {
    let file = URL(filePath: #filePath).appending(path: "../../../../Schemas/receipt-server/openapi.json")
    let description = try JSONValue(parsing: [UInt8](try Data(contentsOf: file.standardized)))
    var found: [String: (line: String, isKeyed: Bool)] = [:]
    for path in description["paths"]?.object ?? [] {
      for method in path.value.object ?? [] {
        let name = try #require(method.value["operationId"]?.string)
        found[name] = (
          "\(method.name.uppercased()) \(path.name)", method.value["security"]?.array?.isEmpty == false
        )
      }
    }
    return found
  }

  @Test("each operation of the description is a method that makes its request, with the key if it needs one")
  func everyOperation() async throws {
    let described = try Self.described()
    #expect(Set(described.keys) == Set(Self.calls.keys))
    for (name, use) in Self.calls {
      let transport = ScriptedTransport([RemoteResponse(status: 404)])
      try? await use(transport.client())
      let request = try #require(transport.requests.first, "\(name)")
      let operation = try #require(described[name])
      let segments = operation.line.replacing("/{file}", with: "/tile%2F0%2F000").split(separator: "/").map {
        $0.hasPrefix("{") ? "1" : String($0)
      }
      #expect(
        request.method.rawValue + " " + request.url.path.trimmingPrefix("/base")
          == segments.joined(separator: "/"), "\(name)")
      let key = request.headers.first { $0.name == "Authorization" }?.value
      #expect(key == (operation.isKeyed ? "Bearer \(ScriptedTransport.key)" : nil), "\(name)")
    }
  }

  @Test("a parameter is encoded, and cannot lead to another path")
  func encoding() async throws {
    let transport = ScriptedTransport([.json(#"{"entitlements":[]}"#)])
    let client = transport.client(app: "my app")
    _ = try await client.getCustomerEntitlements("a/b?c#d é")
    let url = try #require(transport.requests.first).url.description
    #expect(
      url == "https://receipts.example.com/base/v1/customers/a%2Fb%3Fc%23d%20%C3%A9/entitlements?app=my%20app"
    )
    for value in ["", ".", ".."] {
      await #expect { _ = try await client.getEntitlement(value) } throws: {
        ($0 as? ReceiptServerError)?.code == .invalid
      }
    }
    #expect(transport.requests.count == 1)
  }

  @Test("lists go on to their end, and end if the server repeats a page")
  func pages() async throws {
    func entry(_ index: Int) -> String {
      #"{"type":"audit-entry","version":1,"index":\#(index),"kind":"verdict","time":"2026-01-01T00:00:00.000Z"}"#
    }
    let transport = ScriptedTransport([
      .json(#"{"entries":[\#(entry(9)),\#(entry(8))],"before":8}"#), .json(#"{"entries":[],"before":"5"}"#),
      .json(#"{"entries":[\#(entry(1))]}"#),
    ])
    var indexes: [UInt64] = []
    for try await entry in transport.client().allFindEntries(customer: "c", limit: 2) {
      indexes.append(entry.index)
    }
    #expect(indexes == [9, 8, 1])
    #expect(
      transport.requests.map { $0.url.query } == [
        "customer=c&limit=2", "customer=c&before=8&limit=2", "customer=c&before=5&limit=2",
      ])
    let endless = ScriptedTransport([.json(#"{"entries":[],"before":8}"#)])
    await #expect {
      for try await _ in endless.client().allFindEntries() {}
    } throws: { ($0 as? ReceiptServerError)?.code == .unexpected }
  }
}
