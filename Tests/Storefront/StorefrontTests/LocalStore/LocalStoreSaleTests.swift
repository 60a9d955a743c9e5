// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

@Suite struct LocalStoreSaleTests {
  private let fixture = StoreFixture()

  @Test func receiptsVerifyTheMomentTheyAreIssued() async throws {
    let session = try fixture.store().session(account: "alice")
    let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
    let sold = try await session.buy("coins", request: "1", quantity: 3, username: token)
    let transaction = try StoreFixture.verified(sold.receipt, at: fixture.clock.now)
    #expect(transaction.transactionId == sold.transactionIdentifier)
    #expect(transaction.originalTransactionId == sold.originalTransactionIdentifier)
    #expect(transaction.productId == "coins")
    #expect(transaction.quantity == 3)
    #expect(transaction.price == 990)
    #expect(transaction.appAccountToken?.rawValue == token.lowercased())
    #expect(transaction.bundleId == StoreFixture.bundle)
    #expect(transaction.environment == .sandbox)
    #expect(sold.requestIdentifier == "1")
    #expect(sold.payment.quantity == 3)
  }

  @Test func transactionReceiptsVerifyToo() async throws {
    var fixture = fixture
    let authority = try TestAuthority.rsa()
    fixture.options.receipts = .transactionReceipt(authority.identity)
    let sold = try await fixture.store().session(account: "alice").buy("level", request: "1")
    let verifier = ReceiptVerifier(
      trust: authority.trustAnchors,
      policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]),
      intermediates: [authority.intermediate], clock: fixture.clock.reading)
    guard case .valid(let receipt) = verifier.verify(sold.receipt) else {
      Issue.record("\(verifier.verify(sold.receipt))")
      return
    }
    #expect(receipt.kind == .transactionReceipt)
    #expect(receipt.transactions.first?.transactionId == sold.transactionIdentifier)
  }

  @Test func aRepeatedRequestGetsTheSameAnswerAlsoAfterARelaunch() async throws {
    let first = try await fixture.store().session(account: "alice").buy("coins", request: "1")
    fixture.clock.advance(seconds: 60)
    let again = try await fixture.store().session(account: "alice").buy("coins", request: "1")
    #expect(again == first)
    let other = try await fixture.store().session(account: "bob").buy("coins", request: "1")
    #expect(other.transactionIdentifier != first.transactionIdentifier)
    let store = try fixture.store()
    #expect(try await store.purchaseRecord(of: "alice").count == 1)
    #expect(try await store.notifications().map(\.number) == [1, 2])
  }

  @Test func unsellablePaymentsAreRefused() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    #expect(try await session.refusal("unknown", request: "1") == .paymentInvalid)
    #expect(try await session.refusal("gone", request: "2") == .storeProductNotAvailable)
    #expect(try await session.refusal("coins", request: "3") { $0.quantity = 0 } == .paymentInvalid)
    #expect(try await session.refusal("coins", request: "4") { $0.quantity = 11 } == .paymentInvalid)
    #expect(try await session.refusal("level", request: "5") { $0.quantity = 2 } == .paymentInvalid)
    #expect(try await session.refusal("coins", request: "6") { $0.requestData = [1] } == .paymentInvalid)
    #expect(
      try await session.refusal("coins", request: "7", offer: .code("SPRING")) == .invalidOfferIdentifier)
    #expect(try await store.session(account: "").refusal("coins", request: "8") == .clientInvalid)
    #expect(try await store.purchaseRecord(of: "alice").isEmpty)
    #expect(try await store.notifications().isEmpty)
    // Permanently, even if a repeated request differs.
    #expect(try await session.refusal("coins", request: "1") == .paymentInvalid)
  }

  @Test("Restore/repurchase: Nonconsumable")
  func nonConsumablesAreRestoredAndBoughtAgainForFree() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    let first = try await session.own("level", request: "1")
    fixture.clock.advance(seconds: 60)
    let again = try await session.own("level", request: "2")
    // A regular transaction; only the original's identifier shows that it is a repurchase.
    #expect(again.transactionIdentifier != first.transactionIdentifier)
    #expect(again.originalTransactionIdentifier == first.transactionIdentifier)
    #expect(again.requestIdentifier == "2")
    #expect(try StoreFixture.verified(again.receipt).type == .nonConsumable)
    // The same purchase in the sibling app.
    let sibling = try await session.own("level.hd", request: "3")
    #expect(sibling.originalTransactionIdentifier == first.transactionIdentifier)
    #expect(try await store.purchaseRecord(of: "alice").map(\.charged) == [3000, 0, 0])

    let page = try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 10)
    #expect(page.next == nil)
    let restored = try #require(page.transactions.first)
    #expect(page.transactions.count == 1)
    #expect(restored.original == first)
    #expect(restored.transaction.transactionIdentifier != first.transactionIdentifier)
    #expect(restored.transaction.originalTransactionIdentifier == first.transactionIdentifier)
    let receipt = try StoreFixture.verified(restored.transaction.receipt)
    #expect(receipt.transactionId == restored.transaction.transactionIdentifier)
    #expect(try await store.purchaseRecord(of: "alice").map(\.charged) == [3000, 0, 0, 0])
  }

  @Test("Restore/repurchase: Consumable, subscription")
  func otherProductsAreNotRestoredButRecorded() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    let sold = [
      try await session.own("coins", request: "1"), try await session.own("coins", request: "2"),
      try await session.own("silver", request: "3"), try await session.own("season", request: "4"),
    ]
    #expect(Set(sold.map(\.originalTransactionIdentifier)).count == 4)
    let page = try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 10)
    #expect(page.transactions.isEmpty)
    #expect(page.next == nil)
    // The vendor's own mechanism: all purchases, with their receipts.
    let record = try await store.purchaseRecord(of: "alice")
    #expect(record.map(\.transaction) == sold)
    #expect(record.map(\.charged) == [990, 990, 0, 10_000])
    for purchase in record { _ = try StoreFixture.verified(purchase.transaction.receipt) }
  }

  @Test func restoringIsByProductUsernameAndPage() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    let level = try await session.own("level", request: "1", username: "u1")
    let theme = try await session.own("theme", request: "2", username: "u2")
    _ = try await session.own("fixed", request: "3", username: "u1")
    _ = try await store.session(account: "bob").own("level", request: "4", username: "u1")
    let one = try await session.restore(
      RestoreRequest(id: "by name", applicationUsername: "u2"), after: nil, limit: 10)
    #expect(one.transactions.map(\.original) == [theme])

    let request = RestoreRequest(id: "all")
    let first = try await session.restore(request, after: nil, limit: 1)
    #expect(first.transactions.map(\.original) == [level])
    // A purchase during the restoration is not part of it, because pages would shift.
    let second = try await session.restore(request, after: first.next, limit: 1)
    #expect(second.transactions.map(\.original) == [theme])
    #expect(second.next == nil)
    let relaunched = try fixture.store().session(account: "alice")
    let again = try await relaunched.restore(request, after: nil, limit: 10)
    #expect(again.transactions == first.transactions + second.transactions)
    await #expect(throws: StoreError.self) {
      try await relaunched.restore(request, after: StorePosition(rawValue: "99"), limit: 10)
    }
  }

  @Test func onlyFinishedUnrevokedPurchasesAreRestored() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    _ = try await session.buy("level", request: "1")
    let theme = try await session.own("theme", request: "2")
    try await store.refund(theme.transactionIdentifier)
    #expect(try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 10).transactions.isEmpty)
  }

  @Test func unfinishedTransactionsComeInPagesUntilTheyAreFinished() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice/1")
    var sold: [StoreTransaction] = []
    for number in 1...5 { sold.append(try await session.buy("coins", request: "\(number)")) }
    _ = try await store.session(account: "alice").buy("coins", request: "1")
    let first = try await session.unfinishedTransactions(after: nil, limit: 2)
    let second = try await session.unfinishedTransactions(after: first.next, limit: 2)
    let third = try await session.unfinishedTransactions(after: second.next, limit: 2)
    #expect(first.transactions + second.transactions + third.transactions == sold)
    #expect(third.next == nil)
    // Another customer's is unchanged, an unknown one is no error, and finishing is idempotent.
    try await store.session(account: "bob").finish(transactionIdentifier: sold[0].transactionIdentifier)
    try await session.finish(transactionIdentifier: "nonsense")
    for _ in 1...2 { try await session.finish(transactionIdentifier: sold[1].transactionIdentifier) }
    let left = try await fixture.store().session(account: "alice/1").unfinishedTransactions(
      after: nil, limit: 99)
    #expect(left.transactions == [sold[0], sold[2], sold[3], sold[4]])
    // The buyer can still finish it.
    try await session.finish(transactionIdentifier: sold[0].transactionIdentifier)
    #expect(try await session.unfinishedTransactions(after: nil, limit: 1).transactions == [sold[2]])
  }

  @Test func paymentsCanWaitForApproval() async throws {
    var fixture = fixture
    fixture.options.authorization = .ask
    let store = try fixture.store()
    let session = store.session(account: "child")
    let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "level"))
    #expect(try await session.purchase(request) == .pending)
    #expect(try await session.purchase(request) == .pending)
    _ = try await session.purchase(PurchaseRequest(id: "2", payment: Payment(productIdentifier: "coins")))
    let relaunched = try fixture.store()
    #expect(try await relaunched.pendingPurchases().map(\.requestIdentifier) == ["1", "2"])
    let approved = try await relaunched.approve("1", account: "child")
    guard case .purchased(let sold) = approved else {
      Issue.record("\(approved)")
      return
    }
    #expect(try await relaunched.session(account: "child").purchase(request) == approved)
    let unfinished = try await relaunched.session(account: "child").unfinishedTransactions(
      after: nil, limit: 9)
    #expect(unfinished.transactions == [sold])
    #expect(sold.requestIdentifier == "1")
    try await relaunched.decline("2", account: "child")
    #expect(
      try await relaunched.session(account: "child").refusal("coins", request: "2") == .paymentCancelled)
    #expect(try await relaunched.pendingPurchases().isEmpty)
    await #expect(throws: LocalStoreError.self) { try await relaunched.approve("1", account: "child") }
    await #expect(throws: LocalStoreError.self) { try await relaunched.decline("2", account: "child") }
  }

  @Test func aStoreCanDecline() async throws {
    var fixture = fixture
    fixture.options.authorization = .decline(StoreError(.paymentNotAllowed, "No."))
    let session = try fixture.store().session(account: "alice")
    #expect(try await session.refusal("coins", request: "1") == .paymentNotAllowed)
  }

  @Test func everyFailureCanBeInjected() async throws {
    var fixture = fixture
    fixture.options.faults = [
      LocalStore.Fault(.purchase, .unavailable(retryAfter: .seconds(3))),
      LocalStore.Fault(.purchase, .answerLost),
      LocalStore.Fault(.purchase, .error(StoreError(.init(rawValue: 99), "odd"))),
      LocalStore.Fault(.restore, .error(StoreError(.unknown, "no"))),
      LocalStore.Fault(.unfinished, .unavailable(retryAfter: nil), count: 2),
      LocalStore.Fault(.products, .unavailable(retryAfter: nil)),
      LocalStore.Fault(.finish, .answerLost),
    ]
    let store = try fixture.store()
    let session = store.session(account: "alice")
    await #expect(throws: StoreUnavailable("The store cannot be reached.", retryAfter: .seconds(3))) {
      try await session.buy("coins", request: "1")
    }
    #expect(try await store.purchaseRecord(of: "alice").isEmpty)
    await #expect(throws: StoreUnavailable.self) { try await session.buy("coins", request: "1") }
    #expect(try await store.purchaseRecord(of: "alice").count == 1)
    #expect(try await session.refusal("coins", request: "2")?.rawValue == 99)
    let sold = try await session.buy("coins", request: "1")
    #expect(try await store.purchaseRecord(of: "alice").map(\.transaction) == [sold])
    await #expect(throws: StoreError.self) {
      try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 1)
    }
    for _ in 1...2 {
      await #expect(throws: StoreUnavailable.self) {
        try await session.unfinishedTransactions(after: nil, limit: 1)
      }
    }
    #expect(try await session.unfinishedTransactions(after: nil, limit: 1).transactions == [sold])
    await #expect(throws: StoreError.self) { try await session.products(for: [], preferredLocales: []) }
    await #expect(throws: StoreUnavailable.self) {
      try await session.finish(transactionIdentifier: sold.transactionIdentifier)
    }
    #expect(try await session.unfinishedTransactions(after: nil, limit: 1).transactions.isEmpty)
  }

  @Test func productsAreTheCatalogues() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    try await store.perform(.changePrice(of: "silver", to: 7, needsConsent: false))
    try await store.perform(.setForSale(false, "coins"))
    let response = try await fixture.store().session(account: "alice").products(
      for: ["level", "gone", "coins", "silver", "nonsense"], preferredLocales: [])
    #expect(response.products.map(\.id) == ["level", "silver"])
    #expect(response.products.map(\.price) == [3, 7])
    #expect(response.invalidProductIdentifiers == ["coins", "gone", "nonsense"])
    #expect(
      try await session.products(for: ["level"], preferredLocales: []).products.first?.localizedTitle
        == "Level")
  }
}
