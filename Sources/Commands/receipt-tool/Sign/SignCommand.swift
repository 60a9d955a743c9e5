// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
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

extension IdentityOptions {
  func validate() throws {
    let isDirectory = directory != nil && keyFile == nil && chainFile == nil
    let isFiles = directory == nil && keyFile != nil
    guard isDirectory || isFiles else {
      throw ValidationError("Give --identity DIR, or --key FILE with --chain FILE.")
    }
  }

  /// Requires certificates for Apple's kinds of receipts. An app's key has no certificates.
  func requireChain(isNeeded: Bool) throws {
    guard directory == nil else { return }
    if isNeeded, chainFile == nil {
      throw ValidationError("Give --identity DIR, or --key FILE with --chain FILE.")
    }
    try refuse(
      ["--chain": chainFile != nil], unless: isNeeded, "makes no sense with this --format, which has none")
  }

  func load(passphrase: [UInt8]?) throws -> SigningIdentity {
    if let directory {
      CommandInputs.add(identity: directory)
      do throws(SigningError) {
        return try IdentityDirectory(directory).load(passphrase: passphrase) { note("receipt-tool: \($0)") }
      } catch {
        throw ToolExit.failure(for: error, GivenValue.described(directory))
      }
    }
    let key = try SigningKey.load(keyFile ?? "", passphrase: passphrase)
    guard let chainFile else { return SigningIdentity(appKey: key) }
    return try SigningIdentity(
      privateKey: key, chain: SigningIdentity.certificates(inFile: try InputFile.contents(of: chainFile)))
  }
}
