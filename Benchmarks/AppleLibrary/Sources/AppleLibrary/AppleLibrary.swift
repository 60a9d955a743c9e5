// SPDX-License-Identifier: Apache-2.0

import AppStoreServerLibrary
import Foundation

/// Apple's Swift server library, verifying the same signed transaction: prints verifications a second, the median of five.
///
/// usage: AppleLibrary ROOT.cer TRANSACTION.jws BUNDLE-ID [SECONDS]
@main
struct Measurement {
  static func main() async throws {
    let arguments = CommandLine.arguments
    precondition(arguments.count >= 4, "usage: AppleLibrary ROOT.cer TRANSACTION.jws BUNDLE-ID [SECONDS]")
    let transaction = try String(contentsOfFile: arguments[2], encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let verifier = try SignedDataVerifier(
      rootCertificates: [try Data(contentsOf: URL(fileURLWithPath: arguments[1]))], bundleId: arguments[3],
      appAppleId: nil, environment: .sandbox, enableOnlineChecks: false)
    let seconds = arguments.count > 4 ? Double(arguments[4]) ?? 2 : 2
    var rates: [Double] = []
    for _ in 0..<5 {
      var count = 0
      let start = ContinuousClock.now
      var elapsed = 0.0
      while elapsed < seconds / 5 {
        guard case .valid = await verifier.verifyAndDecodeTransaction(signedTransaction: transaction) else {
          fatalError("the library refused the transaction")
        }
        count += 1
        elapsed = (ContinuousClock.now - start) / .seconds(1)
      }
      rates.append(Double(count) / elapsed)
    }
    print(Int(rates.sorted()[2]))
  }
}
