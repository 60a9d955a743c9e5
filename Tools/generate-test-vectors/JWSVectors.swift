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
  var list: VectorList
  private let authority: TestAuthority
  private let signer: JWSSigner

  private var kind: ReceiptKind { payload.kind }

  init(_ payload: JWSPayload) throws {
    self.payload = payload
    list = VectorList(payload.kind, "jws", PolicyFlags(trust: ["certificates/es256-root.pem"]))
    authority = try TestAuthority.es256()
    signer = try JWSSigner(identity: authority.identity)
    try addValid()
    try addForms()
    try addChains()
    try addSignatures()
    try addPolicies()
  }

  func facts(_ payload: JWSPayload, transactions: [Transaction]? = nil) -> Vector.Facts {
    Vector.Facts(
      environment: payload.environment, bundleId: payload.bundleId, signedAt: payload.signedDate,
      algorithm: .es256, transactions: transactions ?? payload.transactions)
  }

  private func signed(_ payload: JWSPayload) throws -> String.UTF8View { try signer.sign(payload).utf8 }

  private mutating func addValid() throws {
    list.accept("valid", "All is well.", try signed(payload), facts(payload))
    let production = payload.in(.production)
    list.accept("valid-production", try signed(production), facts(production))
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    for (name, summary, window) in [
      ("valid-first-second", "The leaf's first second of validity is the signing time.", second...second + 9),
      ("valid-last-second", "The leaf's last second of validity is the signing time.", second - 9...second),
    ] {
      let identity = try authority.identity(validFrom: window.lowerBound, to: window.upperBound)
      list.accept(name, summary, try JWSSigner(identity: identity).sign(payload).utf8, facts(payload))
    }
    var xcode = payload.in(.xcode)
    if case .notification = payload { return }
    if case .appTransaction(var appTransaction) = xcode {
      appTransaction.appAppleId = nil
      xcode = .appTransaction(appTransaction)
    }
    let jws = try SelfSignedTestData().sign(xcode).utf8
    list.accept(
      "valid-xcode", "Self-signed test data, admitted by pinning its certificate.", jws, facts(xcode)
    ) {
      $0.trust = ["certificates/xcode.pem"]
      $0.environments = ["xcode"]
      $0.others += ["--admit-xcode"]
    }
    list.refuse(
      "xcode-not-admitted", "Self-signed test data under a policy that does not admit it.", jws, .chainLength,
      policy: { $0.environments = ["xcode"] })
  }

  private mutating func addForms() throws {
    let jws = try signer.sign(payload)
    let input = jws.prefix(upTo: jws.lastIndex(of: ".") ?? jws.endIndex)
    list.refuse("malformed-two-parts", "The signature and its dot are missing.", input.utf8)
    list.refuse("malformed-padding", "base64url with padding.", (jws + "=").utf8)
    let text = String(decoding: payload.encoded(), as: UTF8.self)
    let date = kind == .signedAppTransaction ? "receiptCreationDate" : "signedDate"
    list.refuse(
      "malformed-duplicate-member", "A member of the payload occurs twice; the signature is right.",
      try sign("{\"\(date)\":1," + text.dropFirst()))
    list.refuse(
      "malformed-crit", "The header demands an extension that nobody knows.",
      try sign(text, header: { $0.crit = ["exp"] }))
    list.refuse("unsigned", "The signature part is empty.", (input + ".").utf8)
    for algorithm in ["none", "HS256", "ES384", "RS256"] {
      list.refuse(
        "unsupported-algorithm-\(algorithm.lowercased())",
        "The header says \(algorithm); the signature is ES256 all the same.",
        try sign(text, header: { $0.alg = algorithm }))
    }
  }

  private mutating func addChains() throws {
    for (flaw, code, summary) in VectorList.flaws(expired: "The leaf had expired when it signed.") {
      let identity = try authority.identity(flaw)
      let header = JWSHeader(x5c: identity.chain.map(\.der)).encoded()
      let jws = try JWSSigner(unchecked: identity, header: header).sign(payload)
      list.refuse("\(code.rawValue)-\(flaw.rawValue)", summary, jws.utf8)
    }
    let second = Int64(SampleReceipts.signedAt.millisecondsSince1970 / 1000)
    for (name, summary, window) in [
      ("second-after", "The leaf expired a second before it signed.", second - 9...second - 1),
      ("second-before", "The leaf became valid a second after it signed.", second + 1...second + 9),
    ] {
      let identity = try authority.identity(validFrom: window.lowerBound, to: window.upperBound)
      let jws = try JWSSigner(identity: identity).sign(payload)
      list.refuse("chain-expired-\(name)", summary, jws.utf8)
    }
    list.refuse(
      "chain-expired-now", "A good receipt, evaluated at an instant after the chain's end.",
      try signed(payload), policy: { $0.others += ["--time", "2070-01-01T00:00:00Z"] })
  }

  private mutating func addSignatures() throws {
    let parts = try signer.sign(payload).split(separator: ".").map(String.init)
    let input = parts[0] + "." + parts[1]
    var signature = try Base64URL.decode(Array(parts[2].utf8))
    let der = try authority.identity.privateKey.signature(for: Array(input.utf8), using: .ecdsa(.sha256))
    signature[40] ^= 1
    for (name, summary, bytes) in [
      ("der", "The signature is right and in DER; ES256 is r and s of 32 bytes each.", der),
      ("bit", "One bit of the signature is flipped.", signature),
      ("zero", "r and s are zero.", [UInt8](repeating: 0, count: 64)),
    ] {
      let jws = input + "." + Base64URL.encodeToString(bytes)
      list.refuse("signature-mismatch-\(name)", summary, jws.utf8)
    }
    let altered = Base64URL.encodeToString(payload.in(.production).encoded())
    list.refuse(
      "signature-mismatch-payload", "The environment was changed to production after signing.",
      (parts[0] + "." + altered + "." + parts[2]).utf8)
    let other = SigningIdentity(uncheckedKey: try TestKeys.developer(), chain: authority.identity.chain)
    let header = JWSHeader(x5c: authority.identity.chain.map(\.der)).encoded()
    list.refuse(
      "signature-mismatch-key", "Another key signed than the leaf's.",
      try JWSSigner(unchecked: other, header: header).sign(payload).utf8)
  }

  private mutating func addPolicies() throws {
    let jws = try signed(payload)
    for name in ["wrong-kind", "wrong-environment", "signed-in-future", "too-old", "wrong-device-unbound"] {
      list.refuse(name, jws)
    }
    if payload.bundleId != nil { list.refuse("wrong-bundle", jws) }
    if payload.appAppleId != nil { list.refuse("wrong-app", jws) }
    if let undated = payload.withoutDate {
      list.refuse(
        "signing-time-missing", "It does not say when it was signed, and the time rule needs that.",
        try signed(undated))
    }
    if let placeless = payload.withoutEnvironment {
      let unproven = try signed(placeless)
      list.refuse("environment-unproven", unproven)
      list.accept("valid-no-environment", unproven, facts(placeless))
    }
  }

  private func sign(
    _ text: String, header change: (inout JWSHeader) -> Void = { _ in }
  ) throws -> [UInt8] {
    var header = JWSHeader(x5c: authority.identity.chain.map(\.der))
    change(&header)
    return try JWSSigner(unchecked: authority.identity, header: header.encoded())
      .sign(encodedPayload: Array(text.utf8))
  }
}

extension JWSPayload {
  /// The same payload in another environment.
  fileprivate func `in`(_ environment: ReceiptEnvironment) -> JWSPayload {
    guard case .realtimeRequest(var payload) = self else {
      return changed(environment: { $0 = environment }, date: { _ in }) ?? self
    }
    payload.environment = environment
    return .realtimeRequest(payload)
  }

  /// The same payload without an environment; `nil` if the kind requires one.
  fileprivate var withoutEnvironment: JWSPayload? { changed(environment: { $0 = nil }, date: { _ in }) }

  /// The same payload without a signing date; `nil` if the kind requires one.
  fileprivate var withoutDate: JWSPayload? { changed(environment: { _ in }, date: { $0 = nil }) }

  private func changed(
    environment: (inout ReceiptEnvironment?) -> Void, date: (inout Timestamp?) -> Void
  ) -> JWSPayload? {
    switch self {
    case .transaction(var payload):
      environment(&payload.environment)
      date(&payload.signedDate)
      return .transaction(payload)
    case .renewalInfo(var payload):
      environment(&payload.environment)
      date(&payload.signedDate)
      return .renewalInfo(payload)
    case .appTransaction(var payload):
      environment(&payload.receiptType)
      date(&payload.receiptCreationDate)
      return .appTransaction(payload)
    case .notification(var payload):
      if var data = payload.data {
        environment(&data.environment)
        payload.data = data
      }
      date(&payload.signedDate)
      return .notification(payload)
    case .realtimeRequest: return nil
    }
  }
}
