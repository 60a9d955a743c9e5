// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of transaction receipts.
struct TransactionReceiptVectors {
  private(set) var list = VectorList(
    .transactionReceipt, "plist",
    PolicyFlags(
      trust: ["certificates/rsa-root.pem"], intermediates: ["certificates/rsa-intermediate.pem"]))
  private let authority: TestAuthority
  private let signer: TransactionReceiptSigner
  private let info = SampleReceipts.purchaseInfo

  init() throws {
    list.made = "Bought"
    authority = try TestAuthority.rsa()
    signer = try TransactionReceiptSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addPolicies()
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
    list.accept("valid", "Version 4: RSA with SHA-256.", receipt, facts())
    list.accept(
      "valid-base64", "The same in base64, as devices deliver it.", as: "b64", Base64.encode(receipt), facts()
    )
    list.accept(
      "valid-line-breaks", "The same in base64, a line break after each 64 symbols.", as: "b64",
      Base64.encode(receipt).brokenIntoLines(), facts())
    list.accept(
      "valid-version-3", "Version 3: RSA with SHA-1.",
      try signer.sign(info, version: .three, environment: .sandbox), facts(algorithm: .rsaSHA1))
    let production = try signer.sign(info)
    list.accept(
      "valid-production-claimed", "No environment means production; both are accepted.", production,
      facts(.production))
    list.accept(
      "valid-claim-accepted", "The policy accepts production alone, and the claim by name.", production,
      facts(.production), policy: Self.acceptClaimedProduction)
    list.refuse(
      "environment-unproven", "No environment means production, but nothing that is signed says so.",
      production)
    list.refuse(
      "environment-unproven-sandbox", "The sandbox is claimed, under a policy that accepts production alone.",
      receipt, policy: { $0.environments = ["production"] })
    list.accept("valid-device", "Of the device that the policy names.", receipt, facts())
  }

  private static func acceptClaimedProduction(_ policy: inout PolicyFlags) {
    policy.environments = ["production"]
    policy.others += ["--accept-claimed-environment"]
  }

  private mutating func addForms() throws {
    let receipt = try signer.sign(info, environment: .sandbox)
    let text = String(decoding: receipt, as: UTF8.self)
    list.refuse(
      "malformed-truncated", "The closing brace is missing.", text.utf8.prefix { $0 != UInt8(ascii: "}") })
    let brace = text.lastIndex(of: "}") ?? text.endIndex
    list.refuse(
      "malformed-duplicate-key", "The key pod occurs twice.",
      (text[..<brace] + "\t\"pod\" = \"2\";\n}").utf8)
    list.refuse("malformed-comment", "A comment precedes the dictionary.", ("/* x */" + text).utf8)
    var properties = try PropertyList(parsing: receipt)
    properties["signature"] = nil
    list.refuse("malformed-no-signature", "The key signature is missing.", properties.encoded())
    properties = try PropertyList(parsing: receipt)
    var blob = try Base64.decode(Array((properties["signature"] ?? "").utf8))
    blob[0] = 3
    properties["signature"] = Base64.encodeToString(blob)
    list.refuse(
      "signature-mismatch-version", "The version byte, which is signed, was changed from 4 to 3.",
      properties.encoded())
    blob[0] = 4
    blob[100] ^= 1
    properties["signature"] = Base64.encodeToString(blob)
    list.refuse("signature-mismatch-bit", "One bit of the signature is flipped.", properties.encoded())
    properties = try PropertyList(parsing: receipt)
    var altered = info
    altered.productId = "com.example.app.everything"
    properties["purchase-info"] = Base64.encodeToString(altered.encoded())
    list.refuse(
      "signature-mismatch-purchase-info", "A genuine signature around another product.", properties.encoded())
    list.refuse(
      "unsupported-algorithm", "Signed with SHA-1 under a policy that accepts SHA-256 alone.",
      try signer.sign(info, version: .three, environment: .sandbox),
      policy: { $0.others += ["--algorithm", "RSA-SHA256"] })
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
      list.refuse("\(code.rawValue)-\(flaw.rawValue)", summary, receipt)
    }
    let receipt = try signer.sign(info, environment: .sandbox)
    list.refuse(
      "issuer-missing", "Nobody supplied the intermediate.", receipt, policy: { $0.intermediates = [] })
    list.refuse(
      "chain-untrusted-other-root", "The policy trusts another root.", receipt,
      policy: { $0.trust = ["certificates/es256-root.pem"] })
  }

  private mutating func addPolicies() throws {
    let receipt = try signer.sign(info, environment: .sandbox)
    for name in ["wrong-kind", "wrong-bundle"] { list.refuse(name, receipt) }
    var stated = info
    stated.appItemId = "1234567890"
    list.refuse("wrong-app", try signer.sign(stated, environment: .sandbox))
    list.refuse(
      "wrong-environment", "The sandbox is claimed, under a policy that accepts production by claim.",
      receipt, policy: Self.acceptClaimedProduction)
    list.refuse("wrong-device", "Of another device.", receipt)
    for name in ["signed-in-future", "too-old"] { list.refuse(name, receipt) }
    var undated = info
    undated.purchaseDate = nil
    list.refuse(
      "signing-time-missing", "It has no purchase date, and the time rule needs one.",
      try signer.sign(undated, environment: .sandbox))
  }
}
