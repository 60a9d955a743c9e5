// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import AppStoreServer
import Entitlements
import ReceiptCodec
import ReceiptHTTPCurl
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import RemoteChecks
import Storefront
import Testing

/// AppStoreEmulator, Entitlements and RemoteChecks.
@Suite(.timeLimit(.minutes(10))) struct RemoteExamples {
  private let signer: DeveloperSigner
  private let verifier: ReceiptVerifier

  init() throws {
    signer = try DeveloperSigner(
      privateKey: TestKeys.developer(), keyId: "ABC123DEFG", issuerId: "57246542-96fe-1a63-e053-0824d011072a",
      bundleId: SampleReceipts.bundleId)
    verifier = ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]))
  }

  /// A store that has sold a subscription, and the transaction.
  private func sold(
    _ signing: EmulatorSigning
  ) async throws -> (store: EmulatedAppStore, transaction: StoreTransaction) {
    let store = try EmulatedAppStore(signing: signing)
    let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: SampleReceipts.productId))
    let outcome = try await store.purchases.session(account: "alice").purchase(request)
    guard case .purchased(let transaction) = outcome else { throw NotSold(outcome: outcome) }
    return (store, transaction)
  }

  private struct NotSold: Error { let outcome: PurchaseOutcome }

  @Test func theEmulatorInTheSameProcess() async throws {
    let store = try EmulatedAppStore(signing: try EmulatorSigning())
    let alice = store.purchases.session(account: "alice")
    let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "com.example.app.monthly"))
    let outcome = try await alice.purchase(request)
    let client = AppStoreServerClient(
      transport: EmulatorTransport(sandbox: store), signer: signer, address: .sandbox,
      verifier: ReceiptVerifier(
        trust: try TestAuthority.es256().trustAnchors,
        policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox])))

    guard case .purchased(let sale) = outcome else { throw NotSold(outcome: outcome) }
    let transaction = try await client.send(.transaction(sale.transactionIdentifier))
    #expect(transaction.payload.productId == "com.example.app.monthly")
  }

  @Test func receivingNotifications() throws {
    var ledger = EntitlementLedger()
    var (statuses, lines, unlocked): ([Int], [String], Int) = ([], [], 0)
    func respond(_ status: Int) { statuses.append(status) }
    func log(_ line: String) { lines.append(line) }
    func unlock() { unlocked += 1 }
    let id = Entitlement.ID(
      environment: .sandbox, bundleId: SampleReceipts.bundleId,
      originalTransactionId: try #require(SampleReceipts.transaction.originalTransactionId))
    let now = SampleReceipts.signedAt

    for body in [Array(try TestReceipts().signedNotification().utf8), Array("{}".utf8)] {
      let receiver = NotificationReceiver(verifier: verifier)
      do throws(NotificationRejection) {
        let notification = try receiver.receive(body)
        ledger.apply(notification)
        respond(NotificationReceiver.acceptedHTTPStatus)
      } catch {
        log(error.description)
        respond(error.httpStatus)
      }

      if ledger[id]?.grantsAccess(at: now) == true { unlock() }
    }

    #expect(statuses == [200, 400])
    #expect(lines.count == 1)
    #expect(unlocked == 2)
  }

  @Test func aLedgerThatStartsLate() async throws {
    let (store, sale) = try await sold(EmulatorSigning())
    let originalTransactionId = sale.originalTransactionIdentifier
    let client = AppStoreServerClient(
      transport: EmulatorTransport(sandbox: store), signer: signer, address: .sandbox, verifier: verifier)
    var ledger = EntitlementLedger()

    for try await transaction in client.pages(.transactionHistory(of: originalTransactionId)) {
      try ledger.apply(transaction: transaction.receipt)
    }
    for subscription in try await client.send(.subscriptionStatuses(of: originalTransactionId)) {
      try ledger.apply(
        transaction: subscription.purchase.transaction.receipt,
        renewalInfo: subscription.purchase.renewalInfo?.receipt,
        status: subscription.status)
    }

    #expect(ledger.entitlements.map(\.id.originalTransactionId) == [originalTransactionId])
    #expect(ledger.entitlements.first?.grantsAccess(at: SystemClock.now()) == true)
  }

  /// Of a receipt that is invalid nobody is asked, so that this needs no network.
  @Test func askingTheStore() async throws {
    let (developerSigner, receipt) = (signer, Array("{}".utf8))

    let transport = CurlTransport()  // or AsyncHTTPClientTransport, for servers
    defer { transport.shutdown() }
    let client = AppStoreServerClient(transport: transport, signer: developerSigner)
    let verdict = await verifier.verify(
      receipt,
      checkers: [
        AppStoreServerChecker(clients: [client]).limited(to: .seconds(2)),
        RevocationChecker(transport: transport),
      ])

    #expect(verdict.reason?.code == .malformed)
    #expect(verdict.checks.isEmpty)
  }

  @Test func purchasesByReference() async throws {
    let transport = AnsweringTransport { _ throws(HTTPTransportError) in
      throw HTTPTransportError(.cannotConnect, "nobody is there")
    }
    let client = AppStoreServerClient(
      transport: transport, signer: signer, retry: RetryPolicy(maximumAttempts: 1))
    let verifier = ReceiptVerifier(
      trust: .apple, policy: VerificationPolicy(bundleIds: .any, environments: [.production]))
    var refused: [Reason] = []
    func log(_ message: String, _ reason: Reason) { refused.append(reason) }
    func grant(_ product: String?) { Issue.record("\(product ?? "")") }
    var retries = 0
    func retryLater() { retries += 1 }

    let lookup = PurchaseLookup(verifier: verifier, appStore: [client])
    let answer = await lookup.answer(about: .appStoreTransaction("2000000001"))
    if answer.isRetryable { retryLater() } else if let reason = answer.reason { log("not granted", reason) }
    for purchase in answer.activePurchases(at: SystemClock.now()) { grant(purchase.productId) }

    #expect(answer.reason?.code == .checkerUnavailable)
    #expect(retries == 1 && refused.isEmpty)
  }

  @Test func revocation() async throws {
    let (store, sale) = try await sold(EmulatorSigning(serverURL: "http://sandbox.example"))
    let transport = EmulatorTransport(sandbox: store)
    let receipt = sale.receipt

    let revocation = RevocationChecker(transport: transport)
    let verdict = await verifier.verify(receipt, checkers: [revocation])
    await revocation.shutdown()

    #expect(verdict.receipt?.kind == .signedTransaction)
    #expect(store.statistics.counts.ocspRequests.count == 2)
  }
}
