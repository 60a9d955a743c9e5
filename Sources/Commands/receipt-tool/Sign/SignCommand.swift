// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification

struct SignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign", abstract: "Sign a receipt described in JSON.",
    discussion: """
      The JSON has Apple's field names; dates are milliseconds since 1970 or ISO
      8601. JWS kinds need an identity on P-256, app receipts and transaction
      receipts one with RSA. Purchases of Google Play and Huawei have the stores'
      own names, and need the key of an app (rsa2048-sha1, rsa3072-sha256).

      Writes a compact JWS, the DER of an app receipt (base64 on a terminal), or the
      property list of a transaction receipt, or a JSON object with "data" and
      "signature", with nothing after it.

      EXAMPLES:
        receipt-tool sign --identity my-store \\
          --format signed-transaction purchase.json > purchase.jws
        receipt-tool sign --identity my-rsa-store --format app-receipt \\
          --output receipt.der app.json
        receipt-tool sign --identity my-play-key --format google-play-purchase \\
          purchase.json > signed.json

      An app receipt:
        {"bundleId": "com.example.app", "applicationVersion": "1",
         "environment": "Production",
         "inApp": [{"transactionId": "1", "productId": "pro",
                    "purchaseDate": "2026-01-01T12:00:00Z"}]}

      EXIT CODES:
        0 signed; 64 wrong command line or identity of the wrong kind; 66 the input,
        key or chain cannot be read; 70 internal fault; 73 the output cannot be
        created; 74 it cannot be written.
      """)

  @OptionGroup(title: "Identity") var identity: IdentityOptions
  @OptionGroup(title: "Identity") var passphraseOptions: PassphraseOptions

  @Option("format", "The kind of receipt.") var format: ReceiptKind

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to this file, replacing its contents.", valueName: "FILE"))
  var output: String?

  @Flag("base64", "Write base64, as apps send app receipts and transaction receipts.")
  var encodesBase64 = false

  @Flag("json", "Print one JSON object with the receipt in it.") var json = false

  @Flag("pss", "Sign a Huawei purchase with SHA256WithRSA/PSS, and state that.") var usesPSS = false

  @Argument("The JSON file; - is standard input.", value: "input.json") var input: String

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
