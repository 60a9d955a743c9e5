// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification

extension TokenCommand: OutputOptions {
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
    try write(Output.Token(token: token, expiresDate: now.addingSeconds(Double(lifetime))), token)
  }
}
