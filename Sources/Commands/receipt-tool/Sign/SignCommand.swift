// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification

extension SignCommand {
  func validate() throws {
    try refuse(["--pss": usesPSS], unless: format == .huaweiPurchase, "needs --format huawei-purchase")
    try refuse(
      ["--base64": encodesBase64], unless: !format.isDetached,
      "makes no sense with this --format, which is JSON")
    try identity.requireChain(isNeeded: !format.isDetached)
  }

  func run() throws {
    let signer = ReceiptSigner(identity: try identity.load(passphrase: passphraseOptions.passphrase()))
    let document = try InputFile.contents(of: input)
    let receipt: [UInt8]
    let signedAt: Timestamp?
    do throws(SigningError) {
      let parsed = try ReceiptInput(decoding: document, as: format, signedAt: SystemClock.now())
      receipt = try signer.sign(parsed, usesPSS: usesPSS)
      signedAt = parsed.signedAt
    } catch {
      throw ToolExit.failure(for: error, input)
    }
    let contents = contents(of: receipt, signedAt: signedAt)
    if let output {
      try NewFile.write(contents, to: output, overwriting: true)
    } else {
      try writeAll(contents)
    }
  }

  private func contents(of receipt: [UInt8], signedAt: Timestamp?) -> [UInt8] {
    let isText = format != .appReceipt
    let isTerminal = output == nil && isatty(STDOUT_FILENO) == 1
    let encoded =
      encodesBase64 || (!isText && (json || isTerminal)) ? Base64.encode(receipt) : receipt
    guard json else { return isTerminal ? encoded + [UInt8(ascii: "\n")] : encoded }
    return Output.SignedReceipt(
      format: format.rawValue, signedDate: signedAt, receipt: String(decoding: encoded, as: UTF8.self)
    ).line()
  }
}
