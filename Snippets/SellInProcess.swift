// SPDX-License-Identifier: Apache-2.0
// Sell a product in a store of your own, in this process, and verify the receipt under the store's root.

import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront

// snippet.open
let identity = try SigningIdentity.create(
  CertificateAuthority.Options(organization: "My Store", algorithm: .es256, start: SystemClock.now()))
let catalog = ProductCatalog(products: [
  CatalogProduct(productIdentifier: "com.example.app.level", type: .nonConsumable, price: 3)
])
let store = try LocalStore(
  catalog: catalog, identity: identity, storage: MemoryRecordStorage(),
  options: LocalStore.Options(bundleIdentifier: "com.example.app"), clock: { SystemClock.now() })
// snippet.end

// snippet.sell
let alice = store.session(account: "alice")
let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "com.example.app.level"))
guard case .purchased(let sale) = try await alice.purchase(request) else {
  throw StoreUnavailable("It was not sold.")
}

let verifier = ReceiptVerifier(
  trust: TrustAnchors(certificates: identity.chain.suffix(1)),
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox]))
print(verifier.verify(sale.receipt).receipt?.activePurchases(at: SystemClock.now()) ?? [])
try await alice.finish(transactionIdentifier: sale.transactionIdentifier)
for notification in try await store.notifications() { print(notification.number, notification.type.rawValue) }
// snippet.end
