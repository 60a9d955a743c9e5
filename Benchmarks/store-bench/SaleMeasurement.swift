// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Measuring
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite

/// Payments that are sold, verified and finished, with the queue of each customer and the store in files, beside a raw
/// probe of the same disk.
enum SaleMeasurement {
  static func run(directory: String, count: Int, customers: Int) async throws {
    let identity = try SigningIdentity.create(
      .init(organization: "Bench", start: SystemClock.now().addingSeconds(-86_400)))
    guard let root = identity.chain.last else { throw Failure("The identity has no root.") }
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]),
      policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox]), clock: { SystemClock.now() })
    let path = directory + "/store.sqlite"
    let store = try LocalStore(
      catalog: ProductCatalog(products: [
        CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
      ]), identity: identity, storage: SQLiteRecordStorage(creatingAt: path),
      options: LocalStore.Options(bundleIdentifier: "com.example.app"), clock: { SystemClock.now() })
    let probe = try SyncProbe(path: directory + "/bench.raw")
    let each = count / customers
    // The probe's writes are among the payments, since a disk is not as fast at all times.
    let rounds = max(1, min(20, each / 10))
    var (raw, selling) = (0.0, 0.0)
    var queues: [PaymentQueue] = []
    for number in 0..<customers {
      queues.append(
        try PaymentQueue(
          store: store.session(account: "customer-\(number)"),
          storage: SQLiteRecordStorage(creatingAt: directory + "/queue-\(number).sqlite")))
    }
    for _ in 0..<rounds {
      for _ in 0..<each * customers / rounds { raw += try probe.writeAndSync() }
      let start = Clock.seconds()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for queue in queues {
          group.addTask {
            for _ in 0..<each / rounds { try await sell(through: queue, verifier) }
          }
        }
        try await group.waitForAll()
      }
      selling += Clock.seconds() - start
    }
    let sold = each / rounds * rounds * customers
    let receipt =
      try await store.purchaseRecord(of: "customer-0", limit: 1).first?.transaction.receipt.count ?? 0
    for queue in queues { try await queue.close() }
    try await store.close()
    print(
      "\(sold) payments of \(customers) customers sold, verified and finished: \(rounded(selling)) s, "
        + "\(rounded(selling / raw)) times the \(rounded(raw)) s of as many pages written and synced")
    print(
      "the store's file: \(try size(of: path) / sold) bytes a sale, whose receipt has \(receipt); "
        + "\(memory("VmHWM")) MiB at most")
  }

  private static func sell(through queue: PaymentQueue, _ verifier: ReceiptVerifier) async throws {
    let transaction = try await queue.purchase(Payment(productIdentifier: "coins"))
    guard let receipt = transaction.transactionReceipt,
      case .valid = verifier.verify(.jws(try UnverifiedJWS(parsing: receipt)))
    else { throw Failure("A sale has no valid receipt.") }
    try await queue.finishAndConfirm(transaction)
  }
}
