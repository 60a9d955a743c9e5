// SPDX-License-Identifier: Apache-2.0
// Create a store of your own, sign a transaction, and verify it under the store's root.

import ReceiptCodec
import ReceiptSigning
import ReceiptVerification

// snippet.sign
let now = SystemClock.now()
let identity = try SigningIdentity.create(
  CertificateAuthority.Options(organization: "My Store", algorithm: .es256, start: now))

var transaction = JWSTransaction()
transaction.transactionId = "2000000000000001"
transaction.originalTransactionId = "2000000000000001"
transaction.bundleId = "com.example.app"
transaction.productId = "com.example.app.pro"
transaction.purchaseDate = now
transaction.signedDate = now
transaction.environment = .production
let receipt = try JWSSigner(identity: identity).sign(.transaction(transaction))
// snippet.end

// snippet.verify
let verifier = ReceiptVerifier(
  trust: TrustAnchors(certificates: identity.chain.suffix(1)),
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
print(verifier.verify(receipt).receipt?.activePurchases(at: SystemClock.now()) ?? [])
// snippet.end
