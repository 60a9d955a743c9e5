// SPDX-License-Identifier: Apache-2.0
// Sell through a payment queue: from launch to finish, with verification and one owner of delivery.

import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite

// snippet.launch
// A store in this process. One on another machine is an HTTPStore over a transport, such as CurlTransport().
let identity = try SigningIdentity.create(
  CertificateAuthority.Options(organization: "My Store", algorithm: .es256, start: SystemClock.now()))
let shop = try LocalStore(
  catalog: ProductCatalog(products: [
    CatalogProduct(productIdentifier: "com.example.app.level", type: .nonConsumable, price: 3)
  ]), identity: identity, storage: MemoryRecordStorage(),
  options: LocalStore.Options(bundleIdentifier: "com.example.app"), clock: { SystemClock.now() })

let queue = try PaymentQueue(
  store: shop.session(account: "alice"), storage: SQLiteRecordStorage(at: CommandLine.arguments[1]))
let verifier = ReceiptVerifier(
  trust: TrustAnchors(certificates: identity.chain.suffix(1)),
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox]))
// snippet.end

// snippet.deliver
struct NotCheckedYet: Error {}

@Sendable func verified(_ transaction: PaymentTransaction) throws -> OwnedPurchase? {
  guard let receipt = transaction.transactionReceipt else { return nil }
  switch verifier.verify(receipt) {
  // A purchase that was refunded in the meantime is not delivered.
  case .valid(let receipt) where receipt.standing(at: SystemClock.now())?.grantsAccess == true:
    guard case .jws(.transaction(let signed)) = receipt.content else { return nil }
    return OwnedPurchase(verified: signed)
  case .valid, .invalid: return nil
  case .undetermined: throw NotCheckedYet()
  }
}

// Created before anything is finished: it remembers what was bought.
let record = QueuePurchaseRecord(queue) { try verified($0) }

// The one owner of delivery, from launch on: it also gets what was paid for before a crash, or approved overnight.
let delivery = Task {
  for await update in await queue.updates {
    guard case .updated(let transactions) = update else { continue }
    for transaction in transactions {
      switch transaction.transactionState {
      case .purchasing: continue
      case .failed: print(transaction.error?.message ?? "")
      case .purchased, .restored:
        // A transaction that cannot be verified now stays, and is delivered again after the next launch.
        if let purchase = try verified(transaction) { print("unlocked", purchase.productIdentifier) }
      }
      // An app only finishes. A program that ends at once waits until the store has taken it.
      try await queue.finishAndConfirm(transaction)
    }
    if await queue.transactions.isEmpty { return }
  }
}
// snippet.end

// snippet.buy
try await queue.add(Payment(productIdentifier: "com.example.app.level"))
try await delivery.value
print(try await record.purchases(of: ["com.example.app.level"]).map(\.transactionIdentifier))
try await queue.close()
// snippet.end
