// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of transaction receipts.
struct TransactionReceiptVectors {
  private(set) var vectors: [Vector] = []
  private let authority: TestAuthority
  private let signer: TransactionReceiptSigner
  private let info = SampleReceipts.purchaseInfo

  init() throws {
    authority = try TestAuthority.rsa()
    signer = try TransactionReceiptSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addPolicies()
  }

  private mutating func add(
    _ name: String, _ summary: String, _ text: [UInt8], policy: PolicyFlags = .transactionReceipt,
    _ expectation: Vector.Expectation
  ) {
    addFile(name, "plist", summary, text, policy: policy, expectation)
  }

  private mutating func addFile(
    _ name: String, _ fileExtension: String, _ summary: String, _ contents: [UInt8],
    policy: PolicyFlags = .transactionReceipt, _ expectation: Vector.Expectation
  ) {
    vectors.append(
      Vector(
        kind: .transactionReceipt, name: name, fileExtension: fileExtension, summary: summary,
        contents: contents, policy: policy, expectation: expectation))
  }

  private func facts(
    _ environment: ReceiptEnvironment = .sandbox, algorithm: ReceiptAlgorithm = .rsaSHA256
  ) -> Vector.Facts {
    Vector.Facts(
      environment: environment, bundleId: info.bundleId, signedAt: info.purchaseDate, algorithm: algorithm,
      transactions: [info.transaction])
  }

  private mutating func addValid() throws {
    let receipt = try signer.sign(info, environment: .sandbox)
    add("valid", "Version 4: RSA with SHA-256.", receipt, .valid(facts()))
    addFile(
      "valid-base64", "b64", "The same in base64, as devices deliver it.", Base64.encode(receipt),
      .valid(facts()))
    addFile(
      "valid-line-breaks", "b64", "The same in base64, a line break after each 64 symbols.",
      Base64.encode(receipt).brokenIntoLines(), .valid(facts()))
    add(
      "valid-version-3", "Version 3: RSA with SHA-1.",
      try signer.sign(info, version: .three, environment: .sandbox), .valid(facts(algorithm: .rsaSHA1)))
    let production = try signer.sign(info)
    add(
      "valid-production-claimed", "No environment means production; both are accepted.", production,
      .valid(facts(.production)))
    let alone = PolicyFlags.transactionReceipt.with { $0.environments = ["production"] }
    add(
      "valid-claim-accepted", "The policy accepts production alone, and the claim by name.", production,
      policy: alone.adding("--accept-claimed-environment"), .valid(facts(.production)))
    add(
      "environment-unproven", "No environment means production, but nothing that is signed says so.",
      production, policy: alone, .undetermined(.environmentUnproven))
    add(
      "environment-unproven-sandbox", "The sandbox is claimed, under a policy that accepts production alone.",
      receipt, policy: alone, .undetermined(.environmentUnproven))
    let device = PolicyFlags.transactionReceipt.adding("--device-id", "00112233-4455-6677-8899-aabbccddeeff")
    add("valid-device", "Of the device that the policy names.", receipt, policy: device, .valid(facts()))
  }

  private mutating func addForms() throws {
    let receipt = try signer.sign(info, environment: .sandbox)
    let text = String(decoding: receipt, as: UTF8.self)
    add(
      "malformed-truncated", "The closing brace is missing.",
      Array(text.utf8.prefix { $0 != UInt8(ascii: "}") }), .invalid(.malformed))
    let brace = text.lastIndex(of: "}") ?? text.endIndex
    add(
      "malformed-duplicate-key", "The key pod occurs twice.",
      Array((text[..<brace] + "\t\"pod\" = \"2\";\n}").utf8), .invalid(.malformed))
    add(
      "malformed-comment", "A comment precedes the dictionary.", Array(("/* x */" + text).utf8),
      .invalid(.malformed))
    var list = try PropertyList(parsing: receipt)
    list["signature"] = nil
    add("malformed-no-signature", "The key signature is missing.", list.encoded(), .invalid(.malformed))
    list = try PropertyList(parsing: receipt)
    var blob = try Base64.decode(Array((list["signature"] ?? "").utf8))
    blob[0] = 3
    list["signature"] = Base64.encodeToString(blob)
    add(
      "signature-mismatch-version", "The version byte, which is signed, was changed from 4 to 3.",
      list.encoded(), .invalid(.signatureMismatch))
    blob[0] = 4
    blob[100] ^= 1
    list["signature"] = Base64.encodeToString(blob)
    add(
      "signature-mismatch-bit", "One bit of the signature is flipped.", list.encoded(),
      .invalid(.signatureMismatch))
    list = try PropertyList(parsing: receipt)
    var altered = info
    altered.productId = "com.example.app.everything"
    list["purchase-info"] = Base64.encodeToString(altered.encoded())
    add(
      "signature-mismatch-purchase-info", "A genuine signature around another product.", list.encoded(),
      .invalid(.signatureMismatch))
    add(
      "unsupported-algorithm", "Signed with SHA-1 under a policy that accepts SHA-256 alone.",
      try signer.sign(info, version: .three, environment: .sandbox),
      policy: .transactionReceipt.adding("--algorithm", "RSA-SHA256"), .invalid(.unsupportedAlgorithm))
  }

  private mutating func addChains() throws {
    let cases: [(TestAuthority.Flaw, ReasonCode, String)] = [
      (.chainOfTwo, .chainLength, "The root itself issued the leaf."),
      (.foreignRoot, .chainUntrusted, "An issuer of the right name and another key issued the leaf."),
      (.expired, .chainExpired, "The leaf had expired at the purchase date."),
      (.leafWithoutMarker, .certificatePurpose, "The leaf lacks the marker of receipt signing."),
      (.leafIsAuthority, .certificatePurpose, "The leaf is an authority."),
    ]
    for (flaw, code, summary) in cases {
      let receipt = try TransactionReceiptSigner(identity: authority.identity(flaw))
        .sign(info, environment: .sandbox)
      add("\(code.rawValue)-\(flaw.rawValue)", summary, receipt, .invalid(code))
    }
    let receipt = try signer.sign(info, environment: .sandbox)
    add(
      "issuer-missing", "Nobody supplied the intermediate.", receipt,
      policy: .rsa, .undetermined(.issuerMissing))
    add(
      "chain-untrusted-other-root", "The policy trusts another root.", receipt,
      policy: .transactionReceipt.with { $0.trust = ["certificates/es256-root.pem"] },
      .invalid(.chainUntrusted))
  }

  private mutating func addPolicies() throws {
    let receipt = try signer.sign(info, environment: .sandbox)
    let flags = PolicyFlags.transactionReceipt
    add(
      "wrong-kind", "A good receipt of a kind that the policy does not accept.", receipt,
      policy: flags.adding("--kind", "app-receipt"), .invalid(.wrongKind))
    add(
      "wrong-bundle", "A good receipt of another app.", receipt,
      policy: flags.with { $0.bundleIds = ["com.example.other"] }, .invalid(.wrongBundle))
    var stated = info
    stated.appItemId = "1234567890"
    add(
      "wrong-app", "A good receipt of another app by its App Store identifier.",
      try signer.sign(stated, environment: .sandbox), policy: flags.adding("--app-apple-id", "1"),
      .invalid(.wrongApp))
    add(
      "wrong-environment", "The sandbox is claimed, under a policy that accepts production by claim.",
      receipt,
      policy: flags.with { $0.environments = ["production"] }.adding("--accept-claimed-environment"),
      .invalid(.wrongEnvironment))
    add(
      "wrong-device", "Of another device.", receipt,
      policy: flags.adding("--device-id", "ffeeddcc-bbaa-9988-7766-554433221100"), .invalid(.wrongDevice))
    add(
      "signed-in-future", "Bought two minutes after the instant at which it is evaluated.", receipt,
      policy: flags.adding("--time", Instant.twoMinutesBefore), .invalid(.signedInFuture))
    add(
      "too-old", "Bought two hours before the instant at which it is evaluated, with an hour allowed.",
      receipt,
      policy: flags.adding("--time", Instant.twoHoursAfter, "--max-age", "3600"), .invalid(.tooOld))
    var undated = info
    undated.purchaseDate = nil
    add(
      "signing-time-missing", "It has no purchase date, and the time rule needs one.",
      try signer.sign(undated, environment: .sandbox), .undetermined(.signingTimeMissing))
  }
}
