// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import Storefront
import Testing

@Suite("Payment queue: records", .timeLimit(.minutes(2)))
struct QueueRecordTests {
  let store = FakeStore()

  /// A storage with one transaction in each state, a payment with all fields, and an unsent finish.
  private func sample() async throws -> MemoryRecordStorage {
    await store.decide { payment in
      switch payment.productIdentifier {
      case "gems": .ask
      case "ruby": .decline(StoreError(.paymentCancelled, "Said \"no\".\n"))
      default: .approve
      }
    }
    let storage = MemoryRecordStorage()
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
    let book = try await queue.purchase(Payment(productIdentifier: "book"))
    try await queue.finish(book)
    try await queue.restoreCompletedTransactions()
    var payment = MutablePayment(productIdentifier: "gems")
    payment.quantity = 3
    payment.applicationUsername = "ümläut \u{1f4a1}"
    payment.offer = .promotional(
      PromotionalOfferRedemption(
        identifier: "o", keyIdentifier: "k", nonce: "n", signature: [0, 255], timestamp: .max))
    try await queue.add(payment)
    payment.offer = .code("c")
    try await queue.add(payment)
    payment.offer = .winBack("w")
    try await queue.add(payment)
    for product in ["ruby", "coins"] { try await queue.add(Payment(productIdentifier: product)) }
    try await queue.synchronize()
    let coins = try #require(await queue.transactions.last)
    try await queue.finish(coins)
    return storage.reopened()
  }

  /// Adds a number of payments at once.
  private func add(_ count: Int, to ledger: inout TransactionLedger) throws -> [SequenceNumber] {
    var changes = LedgerChanges()
    for index in 0..<count { changes.add(Payment(productIdentifier: "coins"), request: "\(index)") }
    return try ledger.commit(changes)
  }

  @Test("a number is assigned once, even when all reserved numbers are used up")
  func numbers() throws {
    let storage = MemoryRecordStorage()
    var ledger = TransactionLedger(storage: storage)
    // The first commit reserves 1,024 beyond its own.
    let given = try add(1, to: &ledger) + add(1024, to: &ledger)
    #expect(Set(given).count == 1025)
    var reopened = try TransactionLedger.read(from: storage.reopened())
    let next = try add(1, to: &reopened)
    #expect(!given.contains(next[0]))
  }

  @Test("a payment has one outcome, however many answers come at once")
  func twoAnswers() throws {
    var ledger = TransactionLedger(storage: MemoryRecordStorage())
    let number = try add(1, to: &ledger)[0]
    var changes = LedgerChanges()
    for code in [StoreError.Code.paymentCancelled, .ineligibleForOffer] {
      changes.complete(number, .failed(StoreError(code, "no")), in: ledger)
    }
    #expect(changes.outcomes.map(\.number) == [number])
    #expect(changes.outcomes.first?.transaction.outcome == .failed(StoreError(.paymentCancelled, "no")))
  }

  @Test("reads back what it wrote")
  func roundTrip() async throws {
    let storage = try await sample()
    let first = try PaymentQueue(store: store, storage: storage.reopened())
    let second = try PaymentQueue(store: store, storage: storage.reopened())
    let transactions = await first.transactions
    #expect(transactions == (await second.transactions))
    #expect(transactions.count == 5)
    #expect(transactions[1].payment.applicationUsername == "ümläut \u{1f4a1}")
    guard case .promotional(let offer)? = transactions[1].payment.offer else {
      Issue.record("The offer is missing.")
      return
    }
    #expect(offer.signature == [0, 255])
    #expect(offer.timestamp == .max)
    #expect(transactions[2].payment.offer == .code("c"))
    #expect(transactions[3].payment.offer == .winBack("w"))
    #expect(transactions[4].error?.message == "Said \"no\".\n")
  }

  @Test("keeps downloads, and the store's payment if it differs from the added one")
  func sale() async throws {
    let storage = MemoryRecordStorage()
    var other = MutablePayment(productIdentifier: "coins")
    other.requestData = [9]
    other.quantity = -4
    let sale = StoreTransaction(
      transactionIdentifier: "t", originalTransactionIdentifier: "o",
      transactionDate: .init(millisecondsSince1970: 1_697_679_936_049.7297), payment: Payment(other),
      requestIdentifier: "r1", receipt: [0, 1, 2],
      downloads: [
        DownloadableContent(
          contentIdentifier: "c", contentVersion: "1.0", url: "https://example.com/c", contentLength: .max,
          sha256: [UInt8](repeating: 7, count: 32))
      ])
    let queue = try PaymentQueue(
      store: FixedSales(answer: .purchased(sale)), storage: storage, options: testOptions())
    let id = try await queue.purchase(Payment(productIdentifier: "coins")).id
    try await queue.close()
    let next = try PaymentQueue(store: store, storage: storage.reopened())
    #expect(try await next.transaction(id)?.storeTransaction == sale)
    #expect(try await next.transaction(id)?.payment == Payment(productIdentifier: "coins"))
  }

  @Test("reports which record is damaged, and where, and never crashes")
  func damaged() async throws {
    let storage = try await sample()
    var refused = 0
    for collection in [RecordCollection.queueTransactions, RecordCollection(rawValue: "queue")] {
      for record in try storage.records(in: collection, after: nil, limit: 99) {
        for length in 0..<record.value.count {
          let damaged = storage.reopened()
          try damaged.put(record.key, Array(record.value[..<length]), in: collection)
          let code = await queueCode { _ = try PaymentQueue(store: store, storage: damaged) }
          #expect(code == .corrupt)
          refused += 1
        }
        for index in record.value.indices {
          var altered = record.value
          altered[index] ^= 0x15
          let damaged = storage.reopened()
          try damaged.put(record.key, altered, in: collection)
          // Some alterations give another valid value; there must be no crash and no other error.
          let code = await queueCode { _ = try PaymentQueue(store: store, storage: damaged) }
          #expect(code == nil || code == .corrupt || code == .unsupported)
        }
      }
    }
    #expect(refused > 500)
  }

  @Test(
    "reports the fault of a record",
    arguments: [
      ("{\"state\":\"purchased\",\"payment\":{\"productIdentifier\":\"p\",\"quantity\":1}}", "$.state"),
      ("{\"state\":\"sold\",\"payment\":{\"productIdentifier\":\"p\",\"quantity\":1}}", "$.state"),
      ("{\"state\":\"purchasing\",\"payment\":{\"productIdentifier\":\"p\",\"quantity\":1}}", "$.state"),
      (
        "{\"state\":\"purchasing\",\"request\":\"r\",\"payment\":{\"productIdentifier\":\"p\"}}",
        "$.payment.quantity"
      ),
      (
        "{\"state\":\"purchasing\",\"request\":7,\"payment\":{\"productIdentifier\":\"p\",\"quantity\":1}}",
        "$.request"
      ),
      (
        "{\"state\":\"failed\",\"errorCode\":1,\"payment\":{\"productIdentifier\":\"p\",\"quantity\":1}}",
        "$.state"
      ),
    ])
  func places(json: String, path: String) async throws {
    let storage = try await sample()
    try storage.put("000000000000002", Array(json.utf8), in: .queueTransactions)
    do {
      _ = try PaymentQueue(store: store, storage: storage)
      Issue.record("It was opened.")
    } catch {
      #expect(error.code == .corrupt)
      #expect(error.place == "queue-transactions 000000000000002")
      #expect(error.message.contains(path), "\(error)")
    }
  }

  /// A paid purchase, as a build of version 1 wrote it.
  private static let oldRecord = """
    {"state":"purchased","payment":{"productIdentifier":"coins","quantity":1},\
    "sale":{"transaction":"2000000001","original":"2000000001","date":1760000000000,"request":"5F0C"}}
    """

  @Test(
    "refuses records of another version, says which build wrote them, and changes nothing",
    arguments: [(1, "an older build"), (3, "a later build")])
  func otherVersions(version: Int, words: String) async throws {
    let storage = MemoryRecordStorage()
    let collection = RecordCollection(rawValue: "queue")
    try storage.put("queue", Array("{\"version\":\(version),\"reserved\":1025}".utf8), in: collection)
    try storage.put("000000000000001", Array(Self.oldRecord.utf8), in: .queueTransactions)
    try storage.put("000000000000001", [1, 2], in: .queueReceipts)
    do {
      _ = try PaymentQueue(store: store, storage: storage)
      Issue.record("It was opened.")
    } catch {
      #expect(error.code == .unsupported)
      #expect(error.place == "queue queue")
      #expect(error.message.contains("written by \(words)"), "\(error)")
    }
    #expect(try storage.value(of: "000000000000001", in: .queueTransactions) == Array(Self.oldRecord.utf8))
    #expect(try storage.value(of: "000000000000001", in: .queueReceipts) == [1, 2])
  }

  @Test("refuses unassigned numbers, and a missing receipt")
  func refuses() async throws {
    let storage = try await sample()
    for key in ["1", "00000000000000x", "000000000099999", "000000000000000"] {
      let odd = storage.reopened()
      let record = try #require(try odd.value(of: "000000000000002", in: .queueTransactions))
      try odd.put(key, record, in: .queueTransactions)
      #expect(await queueCode { _ = try PaymentQueue(store: store, storage: odd) } == .corrupt, "\(key)")
    }
    let finishes = storage.reopened()
    try finishes.put("000000000000001", [0xff], in: .queueFinishes)
    #expect(await queueCode { _ = try PaymentQueue(store: store, storage: finishes) } == .corrupt)

    let missing = storage.reopened()
    try missing.commit([.remove(.queueReceipts, key: "000000000000002")])
    let queue = try PaymentQueue(store: store, storage: missing)
    // The queue stops instead of delivering a sale without its receipt.
    for await _ in await queue.updates {}
    #expect(await queue.fault?.code == .corrupt)
    #expect(await queue.fault?.place == "queue-receipts 000000000000002")
  }
}
