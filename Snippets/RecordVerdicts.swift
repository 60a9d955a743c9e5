// SPDX-License-Identifier: Apache-2.0
// Verify a receipt that a customer presents, record the verdict, and grant the purchase once.
// Usage: RecordVerdicts TRAIL ROOT-CERTIFICATE RECEIPT CUSTOMER, where `receipt-tool audit init` made the trail.

// snippet.record
import AuditTrail
import AuditTrailSQLite
import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import TransparencyLog

func contents(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

let arguments = CommandLine.arguments
let (trail, root, file, customer) = (arguments[1], arguments[2], arguments[3], arguments[4])

// The trail's key signs its state. Nobody else may read TRAIL.key.
let publicKey = String(decoding: try contents("\(trail).pub"), as: UTF8.self)
let key = try NoteVerifierKey(publicKey.trimmingCharacters(in: .whitespacesAndNewlines))
let signer = try NoteSignerKey(
  name: key.name, pem: String(decoding: try contents("\(trail).key"), as: UTF8.self))
let log = try AuditLog.open(
  try SQLiteStorage(openingAt: trail), verifier: key, signer: signer,
  checkpoints: FileCheckpointStore(path: "\(trail).checkpoint"))

// For the App Store, trust `.apple`.
let verifier = ReceiptVerifier(
  trust: TrustAnchors(certificates: try Certificate.certificates(in: try contents(root))),
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
let receipt = try contents(file)

// One transaction decides and records: of two requests for one purchase at the same moment, one is granted.
let request = GrantRequest(
  verifier.verify(receipt), receipt: receipt, policyDigest: SHA256Digest(of: verifier.policy),
  at: SystemClock.now(), rules: [.anotherCustomer, .consumableAgain],
  options: RecordingOptions(customer: customer))
let decision = try await log.grant([request])[0]

switch decision.verdict {
case .valid(let receipt):
  // Granted to this customer. What has expired or was refunded still gives no access.
  for purchase in receipt.activePurchases(at: SystemClock.now()) { print("grant", purchase.productId ?? "?") }
case .invalid(let receipt):
  print("refused:", receipt.reason)
case .undetermined(let receipt):
  // Recorded, and neither granted nor refused. Keep the receipt; if it is retryable, present it again later.
  print("could not be checked:", receipt.reason, receipt.isRetryable ? "(retry)" : "")
}
print("entry", decision.acknowledgements[0].index)
try log.close()
// snippet.end
