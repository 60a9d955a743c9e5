// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Measuring
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite

/// Buys and finishes until it is killed, and prints what was acknowledged: the other process of the crash test.
///
/// The store that it buys from notes each charge and each finish in a file, before it answers.
enum Worker {
  static func run(directory: String) async throws {
    let store = try NotingStore(path: directory + "/charges")
    let storage = try SQLiteRecordStorage(at: directory + "/worker.queue", busyTimeout: .seconds(30))
    let queue = try PaymentQueue(store: store, storage: storage)
    // Finish the purchases that the previous process left.
    for transaction in await queue.transactions where transaction.transactionState == .purchased {
      try await finish(transaction.id, in: queue)
    }
    while true {
      let id = try await queue.add(Payment(productIdentifier: "coins"))
      say("added \(id.rawValue)")
      try await queue.synchronize()
      if Int.random(in: 0..<8) == 0 { continue }
      for transaction in await queue.transactions { try await finish(transaction.id, in: queue) }
    }
  }

  /// The same with a store in a file. What was unlocked is noted in another one, and unlocked once.
  static func shop(directory: String) async throws {
    let notes = try Notes(path: directory + "/unlocked")
    var unlocked = Set(notes.lines)
    let identity = try SigningIdentity.create(
      .init(organization: "Bench", start: SystemClock.now().addingSeconds(-86_400)))
    let store = try LocalStore(
      catalog: ProductCatalog(products: [
        CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
      ]), identity: identity,
      storage: SQLiteRecordStorage(at: directory + "/shop.sqlite", busyTimeout: .seconds(30)),
      options: LocalStore.Options(bundleIdentifier: "com.example.app"), clock: { SystemClock.now() })
    let queue = try PaymentQueue(
      store: store.session(account: "customer"),
      storage: SQLiteRecordStorage(at: directory + "/shop.queue", busyTimeout: .seconds(30)))
    while true {
      try await queue.synchronize()
      for transaction in await queue.transactions {
        guard let sale = transaction.transactionIdentifier else { continue }
        if unlocked.insert(sale).inserted { notes.note(sale) }
        try await queue.finish(transaction)
      }
      try await queue.add(
        contentsOf: Array(repeating: Payment(productIdentifier: "coins"), count: .random(in: 1...3)))
    }
  }

  private static func finish(_ id: PaymentTransaction.ID, in queue: PaymentQueue) async throws {
    guard let receipt = try await queue.transaction(id)?.transactionReceipt else { return }
    say("delivered \(id.rawValue) \(String(decoding: receipt, as: UTF8.self))")
    try await queue.finish([id])
    say("finished \(id.rawValue)")
  }

  private static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// Lines in a file, which outlive the process.
private struct Notes {
  private let descriptor: Int32
  /// Those that were there at first.
  let lines: [String]

  init(path: String) throws {
    descriptor = unsafe open(path, O_CREAT | O_RDWR | O_APPEND, 0o600)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be opened.") }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 {
      text += buffer[..<count]
    }
    lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func note(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }
}

/// A store whose notes outlive the process that it is in.
private actor NotingStore: Store {
  private let notes: Notes
  private var sold: [String: String] = [:]
  private var finished: Set<String> = []

  init(path: String) throws {
    notes = try Notes(path: path)
    for line in notes.lines {
      let words = line.split(separator: " ").map(String.init)
      switch (words.count, words.first) {
      case (3, "charge"): sold[words[1]] = words[2]
      case (2, "finish"): finished.insert(words[1])
      default: throw Failure("\(path) has a line that nobody wrote: \(line)")
      }
    }
  }

  private func sale(_ request: String, _ identifier: String) -> StoreTransaction {
    StoreTransaction(
      transactionIdentifier: identifier, originalTransactionIdentifier: identifier,
      transactionDate: Timestamp(secondsSince1970: 1_760_000_000),
      payment: Payment(productIdentifier: "coins"), requestIdentifier: request,
      receipt: Array("receipt-\(identifier)".utf8))
  }

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse { ProductsResponse(products: []) }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    if let known = sold[request.id] { return .purchased(sale(request.id, known)) }
    let identifier = "s\(sold.count + 1)"
    notes.note("charge \(request.id) \(identifier)")
    sold[request.id] = identifier
    return .purchased(sale(request.id, identifier))
  }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    let open = sold.filter { !finished.contains($0.value) }
    return StoreTransactionPage(
      transactions: open.sorted { $0.value < $1.value }.map { sale($0.key, $0.value) }, next: nil)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
    guard finished.insert(transactionIdentifier).inserted else { return }
    notes.note("finish \(transactionIdentifier)")
  }

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    RestoredTransactionPage(transactions: [], next: nil)
  }
}
