// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite("Store errors", .timeLimit(.minutes(1)))
struct StoreErrorTests {
  @Test("SKError: SKErrorDomain")
  func domain() {
    #expect(StoreError.domain == "SKErrorDomain")
    #expect(StoreError(.paymentInvalid, "no").description == "SKErrorDomain 3: no")
  }

  @Test("SKError: SKErrorUnknown 0")
  func unknown() async throws { try await expect(.unknown, 0) }

  @Test("SKError: SKErrorClientInvalid 1")
  func clientInvalid() async throws { try await expect(.clientInvalid, 1) }

  @Test("SKError: SKErrorPaymentCancelled 2")
  func paymentCancelled() async throws { try await expect(.paymentCancelled, 2) }

  @Test("SKError: SKErrorPaymentInvalid 3")
  func paymentInvalid() async throws { try await expect(.paymentInvalid, 3) }

  @Test("SKError: SKErrorPaymentNotAllowed 4")
  func paymentNotAllowed() async throws { try await expect(.paymentNotAllowed, 4) }

  @Test("keeps unknown numbers", arguments: [-1, 7, 4096, Int.max, Int.min])
  func others(number: Int) async throws { try await expect(StoreError.Code(rawValue: number), number) }

  /// A payment that fails with the code has it after a relaunch, too.
  private func expect(_ code: StoreError.Code, _ number: Int) async throws {
    #expect(code.rawValue == number)
    let store = FakeStore()
    let storage = MemoryRecordStorage()
    let error = StoreError(code, "Because of “\(number)”.")
    await store.decide { _ in .decline(error) }
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
    let transaction = try await queue.purchase(Payment(productIdentifier: "coins"))
    #expect(transaction.transactionState == .failed)
    #expect(transaction.error == error)
    try await queue.close()
    let next = try PaymentQueue(store: store, storage: storage.reopened())
    #expect(await next.transactions.map { $0.error } == [error])
    #expect(await store.charges.isEmpty)
  }
}
