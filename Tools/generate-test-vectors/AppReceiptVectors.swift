// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of app receipts, in Base64 on one line, as apps send them to servers.
struct AppReceiptVectors {
  private(set) var list = VectorList(
    .appReceipt, "b64", PolicyFlags(trust: ["certificates/rsa-root.pem"]))
  private let authority: TestAuthority
  private let signer: AppReceiptSigner
  private let payload = SampleReceipts.appReceipt

  init() throws {
    list.made = "Created"
    authority = try TestAuthority.rsa()
    signer = try AppReceiptSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addSignatures()
    try addPolicies()
  }

  private func facts(
    _ payload: AppReceiptPayload, algorithm: ReceiptAlgorithm = .rsaSHA256
  ) -> Vector.Facts {
    Vector.Facts(
      environment: payload.environment, bundleId: payload.bundleId, signedAt: payload.receiptCreationDate,
      algorithm: algorithm, transactions: payload.transactions)
  }

  private func changed(_ change: (inout AppReceiptPayload) -> Void) -> AppReceiptPayload {
    var copy = payload
    change(&copy)
    return copy
  }

  /// Signs the payload with some members changed.
  private func signed(_ change: (inout AppReceiptPayload) -> Void = { _ in }) throws -> [UInt8] {
    Base64.encode(try signer.sign(changed(change)))
  }

  private mutating func acceptChanged(
    _ name: String, _ summary: String, _ change: (inout AppReceiptPayload) -> Void
  ) throws {
    list.accept(name, summary, try signed(change), facts(changed(change)))
  }

  private static func makeProduction(_ payload: inout AppReceiptPayload) {
    payload.environment = .production
    payload.appAppleId = SampleReceipts.appAppleId
  }

  private mutating func addValid() throws {
    let receipt = try signer.sign(payload)
    list.accept("valid", "All is well.", Base64.encode(receipt), facts(payload))
    list.accept("valid-binary", "The same receipt in binary.", as: "der", receipt, facts(payload))
    list.accept(
      "valid-line-breaks", "The same receipt, a line break after each 64 symbols.",
      Base64.encode(receipt).brokenIntoLines(), facts(payload))
    let sha1 = try signer.sign(content: payload.encoded(), digest: .sha1)
    list.accept(
      "valid-sha1", "Signed with SHA-1, as receipts before 2023.", Base64.encode(sha1),
      facts(payload, algorithm: .rsaSHA1))
    let reordered = try signer.sign(
      content: payload.encoded(),
      certificates: [authority.root, authority.identity.chain[0], authority.intermediate])
    list.accept(
      "valid-certificate-order", "The certificates stand in the order root, leaf, intermediate.",
      Base64.encode(reordered), facts(payload))
    list.accept("valid-production", try signed(Self.makeProduction), facts(changed(Self.makeProduction)))
    try acceptChanged("valid-no-purchases", "Nothing was bought in the app.") { $0.inAppPurchases = [] }
    try acceptChanged("valid-unknown-attribute", "An attribute of a type that nobody knows.") {
      $0.additionalAttributes = [AppReceiptAttribute(type: 9999, value: [1, 2, 3])]
    }
    let placeless = changed { $0.environment = nil }
    list.accept("valid-no-environment", Base64.encode(try signer.sign(placeless)), facts(placeless))
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    let brief = try authority.identity(validFrom: second - 9, to: second)
    list.accept(
      "valid-last-second", "The leaf's last second of validity is the creation date.",
      Base64.encode(try AppReceiptSigner(identity: brief).sign(payload)), facts(payload))
  }

  private mutating func addForms() throws {
    let receipt = try signer.sign(payload)
    list.refuse("malformed-truncated", "The last byte is missing.", Base64.encode(receipt.dropLast()))
    list.refuse("malformed-trailing-byte", "A byte follows.", Base64.encode(receipt + [0]))
    list.refuse(
      "malformed-duplicate-attribute", "Two bundle identifiers; the signature is right.",
      try signed {
        $0.additionalAttributes = [
          AppReceiptAttribute(type: 2, value: ([0x0C, 9] + Array("com.other".utf8))[...])
        ]
      })
    var container = try UnverifiedAppReceipt(parsing: receipt).signedData
    container.signerInfos += container.signerInfos
    container.signerInfos[1].signature = container.signerInfos[1].signature.reversed()[...]
    list.refuse("malformed-two-signers", "Two signerInfos.", Base64.encode(container.encoded()))
    container.signerInfos = []
    list.refuse("unsigned", "No signerInfo: nobody signed.", Base64.encode(container.encoded()))
    var renamed = try UnverifiedAppReceipt(parsing: receipt).signedData
    renamed.digestAlgorithms = [ObjectIdentifiers.sha512]
    renamed.signerInfos[0].digestAlgorithm = ObjectIdentifiers.sha512
    list.refuse(
      "unsupported-algorithm-sha512", "The signerInfo names SHA-512.", Base64.encode(renamed.encoded()))
    list.refuse(
      "unsupported-algorithm-policy", "Signed with SHA-1 under a policy that accepts SHA-256 alone.",
      Base64.encode(try signer.sign(content: payload.encoded(), digest: .sha1)),
      policy: { $0.others += ["--algorithm", "RSA-SHA256"] })
  }

  private mutating func addChains() throws {
    for (flaw, code, summary) in VectorList.flaws(expired: "The leaf had expired at the creation date.") {
      let receipt = try AppReceiptSigner(unchecked: authority.identity(flaw)).sign(payload)
      list.refuse("\(code.rawValue)-\(flaw.rawValue)", summary, Base64.encode(receipt))
    }
    let leaf = try signer.sign(content: payload.encoded(), certificates: [authority.identity.chain[0]])
    list.refuse("issuer-missing", "Only the leaf is embedded.", Base64.encode(leaf))
  }

  private mutating func addSignatures() throws {
    var container = try UnverifiedAppReceipt(parsing: signer.sign(payload)).signedData
    let signature = container.signerInfos[0].signature
    container.signerInfos[0].signature[signature.startIndex + 100] ^= 1
    list.refuse(
      "signature-mismatch-bit", "One bit of the signature is flipped.", Base64.encode(container.encoded()))
    container.signerInfos[0].signature = signature
    container.content = changed { $0.environment = .production }.encoded()[...]
    list.refuse(
      "signature-mismatch-content", "The environment was changed to production after signing.",
      Base64.encode(container.encoded()))
    let other = SigningIdentity(uncheckedKey: try TestKeys.otherRSA(), chain: authority.identity.chain)
    list.refuse(
      "signature-mismatch-key", "Another key signed than the leaf's.",
      Base64.encode(try AppReceiptSigner(unchecked: other).sign(payload)))
  }

  private mutating func addPolicies() throws {
    let receipt = try signed()
    let bound = Base64.encode(
      try signer.sign(
        changed { $0.opaqueValue = Array(0xA0...0xAF) }, deviceIdentifier: SampleReceipts.deviceIdentifier))
    list.accept("valid-device", bound, facts(payload))
    list.refuse("wrong-device", bound)
    for name in ["wrong-device-unbound", "wrong-kind", "wrong-bundle"] { list.refuse(name, receipt) }
    list.refuse(
      "wrong-bundle-prefix", "The accepted bundle identifier begins with the receipt's.", receipt,
      policy: { $0.bundleIds = ["com.example.app2"] })
    list.refuse("wrong-app", try signed(Self.makeProduction))
    list.refuse("wrong-environment", receipt)
    list.refuse("environment-unproven", try signed { $0.environment = nil })
    for name in ["signed-in-future", "too-old"] { list.refuse(name, receipt) }
    list.refuse(
      "signing-time-missing", "It has no creation date, and the time rule needs one.",
      try signed { $0.receiptCreationDate = nil })
  }
}

extension [UInt8] {
  func brokenIntoLines() -> [UInt8] {
    var text: [UInt8] = []
    for (index, byte) in enumerated() {
      text.append(byte)
      if index % 64 == 63 { text.append(0x0A) }
    }
    return text
  }
}
