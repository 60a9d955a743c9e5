// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Measuring
import ReceiptCodec
import Storefront
import StorefrontSQLite

/// Measures a payment queue with many unfinished transactions, beside a raw probe of the same disk.
enum QueueMeasurement {
  /// A receipt of the size that a signed transaction has.
  private static let receiptByteCount = 3_400

  static func run(directory: String, count: Int) async throws {
    let path = directory + "/bench.queue"
    let sales = Sales(count: count, receiptByteCount: receiptByteCount)
    var start = Clock.seconds()
    var queue = try PaymentQueue(store: sales, storage: SQLiteRecordStorage(creatingAt: path))
    try await queue.synchronize()
    let filled = await queue.transactions.count
    guard filled == count else { throw Failure("\(filled) of \(count) transactions were taken.") }
    print(
      "filling with \(count) transactions: \(rounded(Clock.seconds() - start)) s, \(memory("VmRSS")) MiB resident"
    )
    try await queue.close()

    var times: [Double] = []
    for _ in 0..<5 {
      start = Clock.seconds()
      let storage = try SQLiteRecordStorage(openingAt: path)
      queue = try PaymentQueue(store: sales, storage: storage)
      times.append(Clock.seconds() - start)
      try await queue.close()
    }
    print("opening, five times: \(times.map { rounded($0) }.joined(separator: ", ")) s")
    start = Clock.seconds()
    queue = try PaymentQueue(store: sales, storage: SQLiteRecordStorage(openingAt: path))
    print(
      "opening: \(rounded(Clock.seconds() - start)) s, \(memory("VmRSS")) MiB resident, "
        + "\(try size(of: path) / count) bytes a transaction on disk")
    try await adding(queue, directory: directory)
    try await redelivery(queue, count: count)
    try await finishing(queue)
    print("resident: \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most")
    try await queue.close()
  }

  /// Payments one by one, and between them writes of a page and its sync on a file of its own.
  private static func adding(_ queue: PaymentQueue, directory: String) async throws {
    let probe = try SyncProbe(path: directory + "/bench.raw")
    var adds: [Double] = []
    var raw: [Double] = []
    for number in 0..<2_000 {
      let payment = Payment(productIdentifier: "com.example.product.\(number % 20)")
      let start = Clock.seconds()
      try await queue.add(payment)
      adds.append((Clock.seconds() - start) * 1000)
      raw.append(try probe.writeAndSync() * 1000)
    }
    print("adding, one by one: \(percentiles(adds))")
    print("a page written and synced, raw: \(percentiles(raw))")
  }

  private static func redelivery(_ queue: PaymentQueue, count: Int) async throws {
    let start = Clock.seconds()
    var delivered = 0
    var bytes = 0
    for await update in await queue.updates {
      guard case .updated(let page) = update else { continue }
      delivered += page.count
      bytes += page.reduce(0) { $0 + ($1.transactionReceipt?.count ?? 0) }
      if delivered >= count { break }
    }
    let seconds = Clock.seconds() - start
    guard bytes == count * receiptByteCount else {
      throw Failure("\(bytes) bytes of receipts were delivered.")
    }
    print(
      "redelivery to a new observer: \(delivered) transactions with receipts, "
        + "\(Int(Double(delivered) / seconds)) a second, \(memory("VmRSS")) MiB resident")
  }

  private static func finishing(_ queue: PaymentQueue) async throws {
    let sold = await queue.transactions.filter { $0.transactionState == .purchased }
    var times: [Double] = []
    for transaction in sold.prefix(1_000) {
      let start = Clock.seconds()
      try await queue.finish(transaction)
      times.append((Clock.seconds() - start) * 1000)
    }
    print("finishing, one by one: \(percentiles(times))")
  }
}

/// A store that has sold many things which nobody has finished, and decides nothing.
private struct Sales: Store {
  let count: Int
  let receiptByteCount: Int

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse { ProductsResponse(products: []) }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome { .pending }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    let start = position.flatMap { Int($0.rawValue) } ?? 0
    let end = min(count, start + limit)
    let sales = (start..<end).map { number in
      StoreTransaction(
        transactionIdentifier: "\(2_000_000_000_000_000 + number)",
        originalTransactionIdentifier: "\(2_000_000_000_000_000 + number)",
        transactionDate: Timestamp(secondsSince1970: 1_760_000_000),
        payment: Payment(productIdentifier: "com.example.product.\(number % 20)"),
        receipt: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: receiptByteCount))
    }
    return StoreTransactionPage(
      transactions: sales, next: end < count ? StorePosition(rawValue: "\(end)") : nil)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {}

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    RestoredTransactionPage(transactions: [], next: nil)
  }
}
