// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
@testable import AppStoreServer
import ReceiptTesting
import ReceiptVerification
import Testing

/// Signed parts come back verified, or not at all.
@Suite struct VerifiedClientTests {
  private static func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(text).encoded(), as: UTF8.self)
  }

  /// The error of asking for the sample transaction when this comes as the signed part.
  private static func refusal(
    of part: String, verifier: ReceiptVerifier? = nil
  ) async throws -> AppStoreServerError.UnverifiedPart? {
    let transport = FakeTransport(.json(#"{"signedTransactionInfo":\#(quoted(part))}"#))
    let client = try StoreServer.client(transport, verifier: verifier)
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("2000000001"))
    }
    #expect(error?.endpoint == .transaction)
    #expect(error?.attempts == 1)
    #expect(transport.requests.count == 1)
    guard case .notVerified(let part) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return nil
    }
    #expect(part.place == "$.signedTransactionInfo")
    return part
  }

  @Test("a genuine transaction is returned verified and in its original form")
  func transaction() async throws {
    let compact = try TestReceipts().signedTransaction()
    let transport = FakeTransport(.json(#"{"signedTransactionInfo":"\#(compact)"}"#))
    let transaction = try await StoreServer.client(transport).send(.transaction("2000000001"))
    #expect(transaction.payload == SampleReceipts.transaction)
    #expect(transaction.compact == compact)
    #expect(transaction.receipt.kind == .signedTransaction)
    #expect(transaction.receipt.assurance == .trustedRoot)
  }

  @Test("the default verifier trusts only Apple, and accepts the signer's app and the address's environment")
  func defaultVerifier() async throws {
    let transport = FakeTransport(
      .json(#"{"signedTransactionInfo":"\#(try TestReceipts().signedTransaction())"}"#))
    let client = AppStoreServerClient(
      transport: transport, signer: try StoreServer.signer(), address: .sandbox)
    #expect(client.verifier.trust == .apple)
    #expect(client.verifier.policy.bundleIds == .oneOf([SampleReceipts.bundleId]))
    #expect(client.verifier.policy.environments == [.sandbox])
    #expect(client.calling(.production).verifier.policy.environments == [.production])
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("2000000001"))
    }
    guard case .notVerified(let part) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(part.code == .chainUntrusted)
  }

  @Test("a byte of the signature changed")
  func tampered() async throws {
    var bytes = Array(try TestReceipts().signedTransaction().utf8)
    let index = bytes.count - 20
    bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    let part = try await Self.refusal(of: String(decoding: bytes, as: UTF8.self))
    #expect(part?.code == .signatureMismatch)
    #expect(part?.isRetryable == false)
  }

  @Test("a receipt of another kind")
  func otherKind() async throws {
    let receipts = try TestReceipts()
    for other in [
      try receipts.signedRenewalInfo(), try receipts.signedAppTransaction(),
      try receipts.signedNotification(),
      try receipts.signedRealtimeRequest(),
    ] {
      #expect(try await Self.refusal(of: other)?.code == .wrongKind)
    }
  }

  @Test("a receipt in an encoding that the verifier alone would decode")
  func wrapped() async throws {
    let receipts = try TestReceipts()
    let compact = try receipts.signedTransaction()
    for wrapped in [
      #"{"signedTransactionInfo":"\#(compact)"}"#, " " + compact, compact + "\n", "", "a.b", compact + ".",
      Base64.encodeToString(Array(compact.utf8)), Base64.encodeToString(try receipts.appReceipt()),
    ] {
      #expect(try await Self.refusal(of: wrapped)?.code == .malformed)
    }
  }

  @Test("another app or environment, even where the verifier accepts it")
  func otherAppOrEnvironment() async throws {
    let receipts = try TestReceipts()
    let lenient = try StoreServer.verifier {
      $0.bundleIds = .any
      $0.environments = [.production, .sandbox]
    }
    let otherApp = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    #expect(try await Self.refusal(of: otherApp)?.code == .wrongBundle)
    #expect(try await Self.refusal(of: otherApp, verifier: lenient)?.code == .wrongBundle)
    let otherEnvironment = try receipts.signedTransaction { $0.environment = .production }
    #expect(try await Self.refusal(of: otherEnvironment)?.code == .wrongEnvironment)
    #expect(try await Self.refusal(of: otherEnvironment, verifier: lenient)?.code == .wrongEnvironment)
  }

  @Test("another transaction than requested, or one without an identifier")
  func otherTransaction() async throws {
    let receipts = try TestReceipts()
    let other = try receipts.signedTransaction { $0.transactionId = "2000000002" }
    #expect(try await Self.refusal(of: other)?.code == .nestedMismatch)
    // Equal to a person, other bytes.
    let client = try StoreServer.client(
      FakeTransport(
        .json(
          #"{"signedTransactionInfo":"\#(try receipts.signedTransaction { $0.transactionId = "e\u{301}" })"}"#
        )))
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("\u{E9}"))
    }
    guard case .notVerified(let part) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(part.code == .nestedMismatch)
  }

  @Test("a missing part is a malformed response")
  func absent() async throws {
    let client = try StoreServer.client(FakeTransport(.json("{}")))
    for error in [
      await storeError({ () async throws(AppStoreServerError) in try await client.send(.transaction("1")) }),
      await storeError({ () async throws(AppStoreServerError) in
        try await client.send(.appTransaction(of: "1"))
      }),
      await storeError({ () async throws(AppStoreServerError) in
        try await client.send(.testNotificationStatus("t"))
      }),
      await storeError({ () async throws(AppStoreServerError) in try await client.send(.orderLookup("o")) }),
    ] {
      guard case .malformedResponse(let malformed) = error?.cause else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(malformed.code == .missing)
    }
  }

  @Test("app transaction, order, version 1 of the refunds and test notification")
  func others() async throws {
    let receipts = try TestReceipts()
    let app = try receipts.signedAppTransaction()
    #expect(
      try await StoreServer.client(FakeTransport(.json(#"{"signedAppTransactionInfo":"\#(app)"}"#)))
        .send(.appTransaction(of: "1")).payload == SampleReceipts.appTransaction)

    let compact = try receipts.signedTransaction()
    let order = FakeTransport(.json(#"{"status":0,"signedTransactions":["\#(compact)","\#(compact)"]}"#))
    #expect(
      try await StoreServer.client(order).send(.orderLookup("M1"))?.map(\.compact) == [compact, compact])
    // Whatever comes with an order that is not valid counts for nothing.
    let noOrder = FakeTransport(.json(#"{"status":1,"signedTransactions":["x"]}"#))
    #expect(try await StoreServer.client(noOrder).send(.orderLookup("M1")) == nil)
    let refunds = FakeTransport(.json(#"{"signedTransactions":["\#(compact)"]}"#))
    #expect(try await StoreServer.client(refunds).send(.refundHistoryV1(of: "1")).count == 1)

    let notification = try receipts.signedNotification()
    let test = FakeTransport(
      .json(#"{"signedPayload":"\#(notification)","sendAttempts":[{"sendAttemptResult":"TIMED_OUT"}]}"#))
    let status = try await StoreServer.client(test).send(.testNotificationStatus("t"))
    #expect(status.notification.payload.notificationType == .subscribed)
    #expect(status.notification.receipt.nested.count == 2)
    #expect(status.sendAttempts.map(\.sendAttemptResult) == [.timedOut])
  }
}
