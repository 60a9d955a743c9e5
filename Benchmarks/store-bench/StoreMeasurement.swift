// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import FoundationEssentials
import Glibc
import Measuring
import ReceiptCodec
import ReceiptSigning
import Storefront
import StorefrontSQLite

/// A store with many transactions in a folder: filling it, opening it, and what its server answers.
enum StoreMeasurement {
  /// Each customer has a subscription that runs, with this many transactions.
  private static let renewals = 10
  /// One customer has many more.
  private static let longHistory = 20_000
  private static let start = Timestamp(secondsSince1970: 1_760_000_000)
  private static let product = "com.example.app.monthly"

  private static func store(in directory: String) throws -> EmulatedAppStore {
    try EmulatedAppStore(
      EmulatedAppStore.Configuration(clock: { start }), signing: try EmulatorSigning(),
      storage: SQLiteRecordStorage(at: directory + "/store.sqlite"))
  }

  static func fill(directory: String, count: Int) async throws {
    let start = Clock.seconds()
    let purchases = try store(in: directory).purchases
    var batch: [LocalStore.ImportedPurchase] = []
    for number in 0..<max(0, count - longHistory) {
      batch.append(purchase(number))
      if batch.count == 2_000 {
        try await purchases.add(batch)
        batch = []
      }
    }
    try await purchases.add(batch)
    var first = purchase(0).transaction
    first.transactionId = "900000000000000"
    first.originalTransactionId = first.transactionId
    try await purchases.addHistory(of: first, count: min(count, longHistory), customer: "long")
    try await purchases.close()
    print(
      "filled with \(count) transactions: \(rounded(Clock.seconds() - start)) s, \(memory("VmHWM")) MiB at most, "
        + "\(try size(of: directory + "/store.sqlite") / count) bytes a transaction")
  }

  private static func purchase(_ number: Int) -> LocalStore.ImportedPurchase {
    let customer = number / renewals
    let place = number % renewals
    let isLast = place == renewals - 1
    let original = "\(100_000_000_000_000 + customer * renewals)"
    let begin = start.addingSeconds(Double(place - renewals + 1) * 30 * 86_400 - 86_400)
    let transaction = JWSTransaction().with {
      $0.transactionId = "\(100_000_000_000_000 + number)"
      $0.originalTransactionId = original
      $0.bundleId = "com.example.app"
      $0.productId = product
      $0.subscriptionGroupIdentifier = "20600001"
      $0.purchaseDate = begin
      $0.originalPurchaseDate = start
      // Customers renew at different times.
      $0.expiresDate = begin.addingSeconds(30 * 86_400 + Double(customer % 10_000))
      $0.quantity = 1
      $0.type = .autoRenewableSubscription
      $0.inAppOwnershipType = .purchased
      $0.signedDate = begin
      $0.environment = .sandbox
      $0.storefront = "USA"
      $0.transactionReason = place == 0 ? .purchase : .renewal
      $0.currency = "USD"
      $0.price = 9_990
    }
    guard isLast else { return LocalStore.ImportedPurchase(transaction, customer: "customer-\(customer)") }
    return LocalStore.ImportedPurchase(
      transaction,
      renewalInfo: JWSRenewalInfo().with {
        $0.autoRenewProductId = product
        $0.autoRenewStatus = .on
      }, customer: "customer-\(customer)")
  }

  /// Opens a store that was filled, and has its server answer.
  static func serve(directory: String, count: Int) async throws {
    var start = Clock.seconds()
    let store = try store(in: directory)
    print("opening: \(rounded(Clock.seconds() - start)) s, \(memory("VmRSS")) MiB resident")
    var times: [Double] = []
    for number in 0..<4_000 {
      let target =
        number % 4 == 0
        ? "history/900000000000000"
        : "history/\(100_000_000_000_000 + Int.random(in: 0..<max(1, count - longHistory)))"
      let order = number % 8 < 4 ? "?sort=DESCENDING" : ""
      start = Clock.seconds()
      try await answer(store, "/inApps/v2/\(target)\(order)")
      times.append((Clock.seconds() - start) * 1000)
    }
    print("history pages: \(percentiles(times))")
    times = []
    for _ in 0..<1_000 {
      let number = 100_000_000_000_000 + Int.random(in: 0..<max(1, count - longHistory))
      start = Clock.seconds()
      try await answer(store, "/inApps/v1/subscriptions/\(number)")
      times.append((Clock.seconds() - start) * 1000)
    }
    print("statuses: \(percentiles(times))")
    start = Clock.seconds()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<5_000 {
            let number = 100_000_000_000_000 + Int.random(in: 0..<max(1, count - longHistory))
            try await answer(store, "/inApps/v1/transactions/\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
    print("transaction info, signed: \(Int(40_000 / (Clock.seconds() - start))) a second")
    start = Clock.seconds()
    try await store.purchases.advance(to: Self.start.addingSeconds(29 * 86_400 + 1_000))
    let renewed = try await store.purchases.eventCount()
    print(
      "\(renewed) renewals: \(rounded(Clock.seconds() - start)) s; "
        + "resident: \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most")
    try await store.purchases.close()
  }

  private static func answer(_ store: EmulatedAppStore, _ target: String) async throws {
    let response = await store.respond(to: EmulatorRequest("GET", target: target))
    guard response.status == 200 else {
      throw Failure("\(target): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
    }
  }
}

func percentiles(_ times: [Double]) -> String {
  let sorted = times.sorted()
  let mean = times.reduce(0, +) / Double(max(1, times.count))
  return "mean \(rounded(mean)) ms, p50 \(rounded(sorted[sorted.count / 2])) ms, "
    + "p99 \(rounded(sorted[sorted.count * 99 / 100])) ms, at most \(rounded(sorted[sorted.count - 1])) ms"
}

func size(of path: String) throws -> Int {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { throw Failure("\(path) is not there.") }
  return Int(status.st_size)
}
