// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors that exist for every JWS kind.
struct JWSVectors {
  let payload: JWSPayload
  private(set) var vectors: [Vector] = []
  private let authority: TestAuthority
  private let signer: JWSSigner

  private var kind: ReceiptKind { payload.kind }

  init(_ payload: JWSPayload) throws {
    self.payload = payload
    self.authority = try TestAuthority.es256()
    self.signer = try JWSSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addSignatures()
    try addPolicies()
  }

  mutating func add(
    _ name: String, _ summary: String, _ jws: String, policy: PolicyFlags = .es256,
    _ expectation: Vector.Expectation
  ) {
    vectors.append(
      Vector(
        kind: kind, name: name, fileExtension: "jws", summary: summary, contents: Array(jws.utf8),
        policy: policy, expectation: expectation))
  }

  func facts(_ payload: JWSPayload, transactions: [Transaction]? = nil) -> Vector.Facts {
    Vector.Facts(
      environment: payload.environment, bundleId: payload.bundleId, signedAt: payload.signedDate,
      algorithm: .es256, transactions: transactions ?? payload.transactions)
  }

  private mutating func addValid() throws {
    add("valid", "All is well.", try signer.sign(payload), .valid(facts(payload)))
    let production = payload.in(.production)
    add(
      "valid-production", "A production receipt under a policy that accepts production alone.",
      try signer.sign(production),
      policy: .es256.with { $0.environments = ["production"] }.adding("--app-apple-id", "1234567890"),
      .valid(facts(production)))
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    for (name, summary, window) in [
      ("valid-first-second", "The leaf's first second of validity is the signing time.", second...second + 9),
      ("valid-last-second", "The leaf's last second of validity is the signing time.", second - 9...second),
    ] {
      let identity = try authority.identity(validFrom: window.lowerBound, to: window.upperBound)
      add(name, summary, try JWSSigner(identity: identity).sign(payload), .valid(facts(payload)))
    }
    var xcode = payload.in(.xcode)
    if case .notification = payload { return }
    if case .appTransaction(var appTransaction) = xcode {
      appTransaction.appAppleId = nil
      xcode = .appTransaction(appTransaction)
    }
    let policy = PolicyFlags.es256.with {
      $0.trust = ["certificates/xcode.pem"]
      $0.environments = ["xcode"]
    }
    let jws = try SelfSignedTestData().sign(xcode)
    add(
      "valid-xcode", "Self-signed test data, admitted by pinning its certificate.", jws,
      policy: policy.adding("--admit-xcode"), .valid(facts(xcode)))
    add(
      "xcode-not-admitted", "Self-signed test data under a policy that does not admit it.", jws,
      policy: .es256.with { $0.environments = ["xcode"] }, .invalid(.chainLength))
  }

  private mutating func addForms() throws {
    let jws = try signer.sign(payload)
    let parts = jws.split(separator: ".").map(String.init)
    add(
      "malformed-two-parts", "The signature and its dot are missing.", parts[0] + "." + parts[1],
      .invalid(.malformed))
    add("malformed-padding", "base64url with padding.", jws + "=", .invalid(.malformed))
    let text = String(decoding: payload.encoded(), as: UTF8.self)
    let date = kind == .signedAppTransaction ? "receiptCreationDate" : "signedDate"
    let twice = "{\"\(date)\":1," + text.dropFirst()
    add(
      "malformed-duplicate-member", "A member of the payload occurs twice; the signature is right.",
      try sign(twice), .invalid(.malformed))
    add(
      "malformed-crit", "The header demands an extension that nobody knows.",
      try sign(text, header: { $0.crit = ["exp"] }), .invalid(.malformed))
    add(
      "unsigned", "The signature part is empty.", parts[0] + "." + parts[1] + ".", .invalid(.unsigned))
    for algorithm in ["none", "HS256", "ES384", "RS256"] {
      add(
        "unsupported-algorithm-\(algorithm.lowercased())",
        "The header says \(algorithm); the signature is ES256 all the same.",
        try sign(text, header: { $0.alg = algorithm }), .invalid(.unsupportedAlgorithm))
    }
  }

  private mutating func addChains() throws {
    let cases: [(TestAuthority.Flaw, ReasonCode, String)] = [
      (.chainOfTwo, .chainLength, "The root itself issued the leaf."),
      (.chainOfFour, .chainLength, "There are two intermediates."),
      (.foreignRoot, .chainUntrusted, "The root has the right name and is another one."),
      (.forgedUnderGenuineRoot, .chainUntrusted, "The trusted root is appended to a chain of a forger."),
      (.expired, .chainExpired, "The leaf had expired when it signed."),
      (.leafWithoutMarker, .certificatePurpose, "The leaf lacks the marker of receipt signing."),
      (.intermediateWithoutMarker, .certificatePurpose, "The intermediate lacks its marker."),
      (.intermediateNotAuthority, .certificatePurpose, "The intermediate may not issue certificates."),
      (.leafIsAuthority, .certificatePurpose, "The leaf is an authority."),
      (.leafKeyUsage, .certificatePurpose, "The leaf's key usage does not allow signatures."),
    ]
    for (flaw, code, summary) in cases {
      let identity = try authority.identity(flaw)
      let header = JWSHeader(x5c: identity.chain.map(\.der)).encoded()
      let jws = try JWSSigner(unchecked: identity, header: header).sign(payload)
      add("\(code.rawValue)-\(flaw.rawValue)", summary, jws, .invalid(code))
    }
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    for (name, summary, from, to) in [
      ("chain-expired-second-after", "The leaf expired a second before it signed.", second - 9, second - 1),
      (
        "chain-expired-second-before", "The leaf became valid a second after it signed.", second + 1,
        second + 9
      ),
    ] {
      let identity = try authority.identity(validFrom: from, to: to)
      add(name, summary, try JWSSigner(identity: identity).sign(payload), .invalid(.chainExpired))
    }
    add(
      "chain-expired-now", "A good receipt, evaluated at an instant after the chain's end.",
      try signer.sign(payload), policy: .es256.adding("--time", "2070-01-01T00:00:00Z"),
      .invalid(.chainExpired))
  }

  private mutating func addSignatures() throws {
    let jws = try signer.sign(payload)
    let parts = jws.split(separator: ".").map(String.init)
    var signature = try Base64URL.decode(Array(parts[2].utf8))
    let der = try authority.identity.privateKey.signature(
      for: Array((parts[0] + "." + parts[1]).utf8), using: .ecdsa(.sha256))
    add(
      "signature-mismatch-der", "The signature is right and in DER; ES256 is r and s of 32 bytes each.",
      parts[0] + "." + parts[1] + "." + Base64URL.encodeToString(der), .invalid(.signatureMismatch))
    signature[40] ^= 1
    add(
      "signature-mismatch-bit", "One bit of the signature is flipped.",
      parts[0] + "." + parts[1] + "." + Base64URL.encodeToString(signature), .invalid(.signatureMismatch))
    let zero = Base64URL.encodeToString([UInt8](repeating: 0, count: 64))
    add(
      "signature-mismatch-zero", "r and s are zero.", parts[0] + "." + parts[1] + "." + zero,
      .invalid(.signatureMismatch))
    let altered = Base64URL.encodeToString(payload.in(.production).encoded())
    add(
      "signature-mismatch-payload", "The environment was changed to production after signing.",
      parts[0] + "." + altered + "." + parts[2], .invalid(.signatureMismatch))
    let other = SigningIdentity(uncheckedKey: try TestKeys.developer(), chain: authority.identity.chain)
    let header = JWSHeader(x5c: authority.identity.chain.map(\.der)).encoded()
    add(
      "signature-mismatch-key", "Another key signed than the leaf's.",
      try JWSSigner(unchecked: other, header: header).sign(payload), .invalid(.signatureMismatch))
  }

  private mutating func addPolicies() throws {
    let jws = try signer.sign(payload)
    add(
      "wrong-kind", "A good receipt of a kind that the policy does not accept.", jws,
      policy: .es256.adding("--kind", "app-receipt"), .invalid(.wrongKind))
    add(
      "wrong-environment", "A sandbox receipt under a policy that accepts production alone.", jws,
      policy: .es256.with { $0.environments = ["production"] }, .invalid(.wrongEnvironment))
    add(
      "signed-in-future", "Signed two minutes after the instant at which it is evaluated.", jws,
      policy: .es256.adding("--time", Instant.twoMinutesBefore), .invalid(.signedInFuture))
    add(
      "too-old", "Signed two hours before the instant at which it is evaluated, with an hour allowed.", jws,
      policy: .es256.adding("--time", Instant.twoHoursAfter, "--max-age", "3600"), .invalid(.tooOld))
    add(
      "wrong-device-unbound", "Bound to no device, under a policy that names one.", jws,
      policy: .es256.adding("--device-id", "00112233-4455-6677-8899-aabbccddeeff"), .invalid(.wrongDevice))
    if payload.bundleId != nil {
      add(
        "wrong-bundle", "A good receipt of another app.", jws,
        policy: .es256.with { $0.bundleIds = ["com.example.other"] }, .invalid(.wrongBundle))
    }
    if payload.appAppleId != nil {
      add(
        "wrong-app", "A good receipt of another app by its App Store identifier.", jws,
        policy: .es256.adding("--app-apple-id", "1"), .invalid(.wrongApp))
    }
    if let undated = payload.withoutDate {
      add(
        "signing-time-missing", "It does not say when it was signed, and the time rule needs that.",
        try signer.sign(undated), .undetermined(.signingTimeMissing))
    }
    if let placeless = payload.withoutEnvironment {
      let unproven = try signer.sign(placeless)
      add(
        "environment-unproven", "It names no environment, under a policy that accepts production alone.",
        unproven, policy: .es256.with { $0.environments = ["production"] },
        .undetermined(.environmentUnproven))
      add(
        "valid-no-environment", "It names no environment; production and sandbox are accepted.", unproven,
        .valid(facts(placeless)))
    }
  }

  private func sign(_ text: String, header change: (inout JWSHeader) -> Void = { _ in }) throws -> String {
    var header = JWSHeader(x5c: authority.identity.chain.map(\.der))
    change(&header)
    let signer = JWSSigner(unchecked: authority.identity, header: header.encoded())
    return String(decoding: try signer.sign(encodedPayload: Array(text.utf8)), as: UTF8.self)
  }
}
