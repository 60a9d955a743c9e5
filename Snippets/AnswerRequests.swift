// SPDX-License-Identifier: Apache-2.0
// What a web framework answers to a request with a receipt in its body. Usage: AnswerRequests FILE

// snippet.answer
import FoundationEssentials
import ReceiptVerification

/// The status of the answer, its header `Retry-After`, and the purchases that the handler may grant.
struct ReceiptAnswer {
  var status: Int
  var reason: String?
  var retryAfter: Int?
  var purchases: [Purchase] = []
}

/// Answers a request whose body is a receipt, as received.
func answer(_ receiptBytes: [UInt8], _ verifier: ReceiptVerifier) -> ReceiptAnswer {
  switch verifier.verify(receiptBytes) {
  case .valid(let receipt):
    // Genuine is not enough: the purchase may have expired, or may have been refunded.
    let purchases = receipt.activePurchases(at: SystemClock.now())
    guard !purchases.isEmpty else { return ReceiptAnswer(status: 403, reason: "not-current") }
    return ReceiptAnswer(status: 200, purchases: purchases)
  case .invalid(let receipt):
    return ReceiptAnswer(status: 422, reason: receipt.reason.code.rawValue)
  case .undetermined(let receipt):
    // Neither granted nor refused. Without Retry-After, what the reason names must be corrected here first.
    return ReceiptAnswer(
      status: 503, reason: receipt.reason.code.rawValue, retryAfter: receipt.isRetryable ? 60 : nil)
  }
}

let verifier = ReceiptVerifier(
  trust: .apple,
  policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
print(answer([UInt8](try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))), verifier))
// snippet.end
