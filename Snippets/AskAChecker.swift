// SPDX-License-Identifier: Apache-2.0
// Ask a source of truth of your own after the local checks.

import ReceiptVerification

// snippet.checker
/// Purchases that customer support has taken back.
struct SupportDesk: RemoteChecker {
  let name = "support-desk"
  let takenBack: Set<String>

  func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    let isTakenBack = receipt.purchases.contains { takenBack.contains($0.transactionId ?? "") }
    return .response(CheckerResponse(isTakenBack ? .revoked(at: nil) : .confirmed))
  }
}
// snippet.end

let receiptBytes = Array(CommandLine.arguments.dropFirst().joined().utf8)
let verifier = ReceiptVerifier(
  trust: .apple, policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]))
// snippet.ask
let verdict = await verifier.verify(receiptBytes, checkers: [SupportDesk(takenBack: ["2000000000000001"])])
// snippet.end
switch verdict {
case .valid(let receipt):
  print(receipt.standing(at: SystemClock.now())?.grantsAccess == true ? "granted" : "not granted")
case .invalid(let receipt): print("refused:", receipt.reason)
// Neither granted nor refused.
case .undetermined(let receipt):
  print(receipt.isRetryable ? "try again later:" : "correct this:", receipt.reason)
}
