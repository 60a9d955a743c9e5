// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Print a token for the App Store Server API.",
    discussion: """
      The token is a secret for as long as it lives.

      EXAMPLE:
        curl -H "Authorization: Bearer $(receipt-tool token --key-id ID \\
          --api-key AuthKey.p8 --issuer-id UUID --bundle-id com.example.app)" \\
          https://api.storekit.apple.com/inApps/v1/transactions/2000000001

      EXIT CODES:
        0 printed; 64 wrong command line or missing credentials; 66 a file cannot be
        read; 74 the output cannot be written.
      """)

  @OptionGroup(title: "Credentials") var credentials: CredentialOptions

  @Option("bundle-id", "The app. Environment: RECEIPTKIT_BUNDLE_ID.", value: "ID") var bundleId: String?

  @Option("lifetime", "Seconds until it expires, at most 3600.", value: "SECONDS") var lifetime = 300

  @Flag("json", "Print one JSON object: token, expiresDate.") var json = false

  func validate() throws {
    guard 1...3600 ~= lifetime else { throw ValidationError("--lifetime takes 1 to 3600 seconds.") }
  }

  func run() throws {
    let now = SystemClock.now()
    let token: String
    do {
      token = try credentials.signer(bundleId: bundleId).serverToken(issuedAt: now, lifetime: lifetime)
    } catch let error as SigningError {
      throw ToolExit.failure(.internalFault, error.message)
    }
    let object = Output.Token(token: token, expiresDate: now.addingSeconds(Double(lifetime)))
    try writeAll(json ? object.line() : Array("\(token)\n".utf8))
  }
}
