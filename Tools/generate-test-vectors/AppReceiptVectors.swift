// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of app receipts.
struct AppReceiptVectors {
  private(set) var vectors: [Vector] = []
  private let authority: TestAuthority
  private let signer: AppReceiptSigner
  private let payload = SampleReceipts.appReceipt

  init() throws {
    authority = try TestAuthority.rsa()
    signer = try AppReceiptSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addSignatures()
    try addPolicies()
  }

  /// Adds a vector in Base64 on one line, as apps send it to servers.
  private mutating func add(
    _ name: String, _ summary: String, _ receipt: [UInt8], policy: PolicyFlags = .rsa,
    _ expectation: Vector.Expectation
  ) {
    addFile(name, "b64", summary, Base64.encode(receipt), policy: policy, expectation)
  }

  private mutating func addFile(
    _ name: String, _ fileExtension: String, _ summary: String, _ contents: [UInt8],
    policy: PolicyFlags = .rsa, _ expectation: Vector.Expectation
  ) {
    vectors.append(
      Vector(
        kind: .appReceipt, name: name, fileExtension: fileExtension, summary: summary, contents: contents,
        policy: policy, expectation: expectation))
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

  private mutating func addValid() throws {
    let receipt = try signer.sign(payload)
    add("valid", "All is well.", receipt, .valid(facts(payload)))
    addFile("valid-binary", "der", "The same receipt in binary.", receipt, .valid(facts(payload)))
    addFile(
      "valid-line-breaks", "b64", "The same receipt, a line break after each 64 symbols.",
      Base64.encode(receipt).brokenIntoLines(), .valid(facts(payload)))
    add(
      "valid-sha1", "Signed with SHA-1, as receipts before 2023.",
      try signer.sign(content: payload.encoded(), digest: .sha1),
      .valid(facts(payload, algorithm: .rsaSHA1)))
    add(
      "valid-certificate-order", "The certificates stand in the order root, leaf, intermediate.",
      try signer.sign(
        content: payload.encoded(),
        certificates: [authority.root, authority.identity.chain[0], authority.intermediate]),
      .valid(facts(payload)))
    let production = changed {
      $0.environment = .production
      $0.appAppleId = SampleReceipts.appAppleId
    }
    add(
      "valid-production", "A production receipt under a policy that accepts production alone.",
      try signer.sign(production),
      policy: .rsa.with { $0.environments = ["production"] }.adding("--app-apple-id", "1234567890"),
      .valid(facts(production)))
    let empty = changed { $0.inAppPurchases = [] }
    add("valid-no-purchases", "Nothing was bought in the app.", try signer.sign(empty), .valid(facts(empty)))
    let unknown = changed {
      $0.additionalAttributes = [AppReceiptAttribute(type: 9999, value: [1, 2, 3])]
    }
    add(
      "valid-unknown-attribute", "An attribute of a type that nobody knows.", try signer.sign(unknown),
      .valid(facts(unknown)))
    let placeless = changed { $0.environment = nil }
    add(
      "valid-no-environment", "It names no environment; production and sandbox are accepted.",
      try signer.sign(placeless), .valid(facts(placeless)))
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    let brief = try authority.identity(validFrom: second - 9, to: second)
    add(
      "valid-last-second", "The leaf's last second of validity is the creation date.",
      try AppReceiptSigner(identity: brief).sign(payload), .valid(facts(payload)))
  }

  private mutating func addForms() throws {
    let receipt = try signer.sign(payload)
    add("malformed-truncated", "The last byte is missing.", Array(receipt.dropLast()), .invalid(.malformed))
    add("malformed-trailing-byte", "A byte follows.", receipt + [0], .invalid(.malformed))
    let twice = changed {
      $0.additionalAttributes = [
        AppReceiptAttribute(type: 2, value: ([0x0C, 9] + Array("com.other".utf8))[...])
      ]
    }
    add(
      "malformed-duplicate-attribute", "Two bundle identifiers; the signature is right.",
      try signer.sign(twice), .invalid(.malformed))
    var container = try UnverifiedAppReceipt(parsing: receipt).signedData
    container.signerInfos += container.signerInfos
    container.signerInfos[1].signature = container.signerInfos[1].signature.reversed()[...]
    add("malformed-two-signers", "Two signerInfos.", container.encoded(), .invalid(.malformed))
    container.signerInfos = []
    add("unsigned", "No signerInfo: nobody signed.", container.encoded(), .invalid(.unsigned))
    var renamed = try UnverifiedAppReceipt(parsing: receipt).signedData
    renamed.digestAlgorithms = [ObjectIdentifiers.sha512]
    renamed.signerInfos[0].digestAlgorithm = ObjectIdentifiers.sha512
    add(
      "unsupported-algorithm-sha512", "The signerInfo names SHA-512.", renamed.encoded(),
      .invalid(.unsupportedAlgorithm))
    add(
      "unsupported-algorithm-policy", "Signed with SHA-1 under a policy that accepts SHA-256 alone.",
      try signer.sign(content: payload.encoded(), digest: .sha1),
      policy: .rsa.adding("--algorithm", "RSA-SHA256"), .invalid(.unsupportedAlgorithm))
  }

  private mutating func addChains() throws {
    let cases: [(TestAuthority.Flaw, ReasonCode, String)] = [
      (.chainOfTwo, .chainLength, "The root itself issued the leaf."),
      (.chainOfFour, .chainLength, "There are two intermediates."),
      (.foreignRoot, .chainUntrusted, "The root has the right name and is another one."),
      (.forgedUnderGenuineRoot, .chainUntrusted, "The trusted root is appended to a chain of a forger."),
      (.expired, .chainExpired, "The leaf had expired at the creation date."),
      (.leafWithoutMarker, .certificatePurpose, "The leaf lacks the marker of receipt signing."),
      (.intermediateWithoutMarker, .certificatePurpose, "The intermediate lacks its marker."),
      (.intermediateNotAuthority, .certificatePurpose, "The intermediate may not issue certificates."),
      (.leafIsAuthority, .certificatePurpose, "The leaf is an authority."),
      (.leafKeyUsage, .certificatePurpose, "The leaf's key usage does not allow signatures."),
    ]
    for (flaw, code, summary) in cases {
      let receipt = try AppReceiptSigner(unchecked: authority.identity(flaw)).sign(payload)
      add("\(code.rawValue)-\(flaw.rawValue)", summary, receipt, .invalid(code))
    }
    add(
      "issuer-missing", "Only the leaf is embedded.",
      try signer.sign(content: payload.encoded(), certificates: [authority.identity.chain[0]]),
      .undetermined(.issuerMissing))
  }

  private mutating func addSignatures() throws {
    let receipt = try signer.sign(payload)
    var container = try UnverifiedAppReceipt(parsing: receipt).signedData
    let signature = container.signerInfos[0].signature
    container.signerInfos[0].signature[signature.startIndex + 100] ^= 1
    add(
      "signature-mismatch-bit", "One bit of the signature is flipped.", container.encoded(),
      .invalid(.signatureMismatch))
    container.signerInfos[0].signature = signature
    container.content = changed { $0.environment = .production }.encoded()[...]
    add(
      "signature-mismatch-content", "The environment was changed to production after signing.",
      container.encoded(), .invalid(.signatureMismatch))
    let other = SigningIdentity(
      uncheckedKey: try TestKeys.otherRSA(),
      chain: authority.identity.chain)
    add(
      "signature-mismatch-key", "Another key signed than the leaf's.",
      try AppReceiptSigner(unchecked: other).sign(payload), .invalid(.signatureMismatch))
  }

  private mutating func addPolicies() throws {
    let receipt = try signer.sign(payload)
    let device = "00112233-4455-6677-8899-aabbccddeeff"
    let bound = try signer.sign(
      changed { $0.opaqueValue = Array(0xA0...0xAF) }, deviceIdentifier: SampleReceipts.deviceIdentifier)
    add(
      "valid-device", "Bound to the device that the policy names.", bound,
      policy: .rsa.adding("--device-id", device), .valid(facts(payload)))
    add(
      "wrong-device", "Bound to another device.", bound,
      policy: .rsa.adding("--device-id", "ffeeddcc-bbaa-9988-7766-554433221100"), .invalid(.wrongDevice))
    add(
      "wrong-device-unbound", "Bound to no device, under a policy that names one.", receipt,
      policy: .rsa.adding("--device-id", device), .invalid(.wrongDevice))
    add(
      "wrong-kind", "A good receipt of a kind that the policy does not accept.", receipt,
      policy: .rsa.adding("--kind", "signed-transaction"), .invalid(.wrongKind))
    add(
      "wrong-bundle", "A good receipt of another app.", receipt,
      policy: .rsa.with { $0.bundleIds = ["com.example.other"] }, .invalid(.wrongBundle))
    add(
      "wrong-bundle-prefix", "The accepted bundle identifier begins with the receipt's.", receipt,
      policy: .rsa.with { $0.bundleIds = ["com.example.app2"] }, .invalid(.wrongBundle))
    let production = changed {
      $0.environment = .production
      $0.appAppleId = SampleReceipts.appAppleId
    }
    add(
      "wrong-app", "A good receipt of another app by its App Store identifier.", try signer.sign(production),
      policy: .rsa.adding("--app-apple-id", "1"), .invalid(.wrongApp))
    add(
      "wrong-environment", "A sandbox receipt under a policy that accepts production alone.", receipt,
      policy: .rsa.with { $0.environments = ["production"] }, .invalid(.wrongEnvironment))
    add(
      "environment-unproven", "It names no environment, under a policy that accepts production alone.",
      try signer.sign(changed { $0.environment = nil }),
      policy: .rsa.with { $0.environments = ["production"] }, .undetermined(.environmentUnproven))
    add(
      "signed-in-future", "Created two minutes after the instant at which it is evaluated.", receipt,
      policy: .rsa.adding("--time", Instant.twoMinutesBefore), .invalid(.signedInFuture))
    add(
      "too-old", "Created two hours before the instant at which it is evaluated, with an hour allowed.",
      receipt,
      policy: .rsa.adding("--time", Instant.twoHoursAfter, "--max-age", "3600"), .invalid(.tooOld))
    add(
      "signing-time-missing", "It has no creation date, and the time rule needs one.",
      try signer.sign(changed { $0.receiptCreationDate = nil }), .undetermined(.signingTimeMissing))
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
