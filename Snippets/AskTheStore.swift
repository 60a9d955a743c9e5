// SPDX-License-Identifier: Apache-2.0
// Verify a receipt, and ask the App Store whether the purchase still stands.
// Usage: AskTheStore RECEIPT KEY-FILE KEY-ID ISSUER-ID, with a key for in-app purchases of App Store Connect.

// snippet.ask
import AppStoreServer
import Foundation
import ReceiptCrypto
import ReceiptHTTPCurl
import ReceiptSigning
import ReceiptVerification
import RemoteChecks

func contents(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

let arguments = CommandLine.arguments
let developerSigner = try DeveloperSigner(
  privateKey: PrivateKey(pem: String(decoding: try contents(arguments[2]), as: UTF8.self)),
  keyId: arguments[3], issuerId: arguments[4], bundleId: "com.example.app")
let transport = CurlTransport()
defer { transport.shutdown() }
let client = AppStoreServerClient(transport: transport, signer: developerSigner)
let verifier = ReceiptVerifier(
  trust: .apple,
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))

// The store is asked only about receipts whose signature is good.
let verdict = await verifier.verify(
  try contents(arguments[1]), checkers: [AppStoreServerChecker(clients: [client]).limited(to: .seconds(10))])

switch verdict {
case .valid(let receipt):
  for purchase in receipt.activePurchases(at: SystemClock.now()) { print("grant", purchase.productId ?? "?") }
case .invalid(let receipt):
  print("refused:", receipt.reason)
case .undetermined(let receipt) where receipt.isRetryable:
  // The store could not be reached, say. Neither grant nor refuse: keep the receipt, and verify it again later.
  print("try again later:", receipt.reason)
case .undetermined(let receipt):
  // The key is wrong, say: until it is corrected, trying again does not help.
  print("correct this, then try again:", receipt.reason)
}
// snippet.end
