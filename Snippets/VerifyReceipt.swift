// SPDX-License-Identifier: Apache-2.0
// Verify a receipt of any kind, and grant what stands. Usage: VerifyReceipt FILE

// snippet.verify
import FoundationEssentials
import ReceiptVerification

let receiptBytes = [UInt8](try Data(contentsOf: URL(filePath: CommandLine.arguments[1])))

let verifier = ReceiptVerifier(
  trust: .apple,
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))

switch verifier.verify(receiptBytes) {
case .valid(let receipt):
  // Genuine does not mean paid for: the purchase may have expired, or may have been refunded.
  for purchase in receipt.activePurchases(at: SystemClock.now()) { print("grant", purchase.productId ?? "?") }
case .invalid(let receipt):
  print("refused:", receipt.reason)
case .undetermined(let receipt):
  // Neither grant nor refuse: keep the receipt. If it is retryable, verify it again later; otherwise correct first what
  // the reason names.
  print("could not be checked:", receipt.reason, receipt.isRetryable ? "(retry)" : "")
}
// snippet.end

// snippet.encode
let json = try JSONEncoder().encode(verifier.verify(receiptBytes))
print(String(decoding: json, as: UTF8.self))
// snippet.end
