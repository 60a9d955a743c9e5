// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto
public import ReceiptSigning
internal import ReceiptTesting

/// The signing identities of the emulator.
public struct EmulatorSigning: Sendable {
  /// The trust anchor of signed payloads (JWS).
  public let root: Certificate
  /// The trust anchor of app receipts.
  package let appReceiptRoot: Certificate

  /// The OCSP responder of these certificates; `nil` for the caller's own identities, because their issuer's key is
  /// not available.
  package let responder: EmulatedResponder?

  /// Signs the store's transactions and notifications.
  let identity: SigningIdentity
  let jws: JWSSigner
  let untrusted: JWSSigner
  let appReceipts: AppReceiptSigner

  /// Signs with the published keys of the test authorities.
  public init() throws(SigningError) {
    try self.init(jws: TestAuthority.es256().identity, appReceipts: TestAuthority.rsa().identity)
  }

  /// Signs with the published keys of the test authority. The certificates name their OCSP responder and their
  /// issuers' revocation lists.
  package init(serverURL: String, appReceipts: SigningIdentity? = nil) throws(SigningError) {
    let authority = try TestAuthority.es256()
    let identity = try authority.identity(
      ocspURL: "\(serverURL)/ocsp", crlURL: "\(serverURL)/crl/intermediate.crl",
      rootCRLURL: "\(serverURL)/crl/root.crl")
    let responder = TestRevocationResponder(authority, chain: identity.chain)
    try self.init(
      jws: identity, appReceipts: appReceipts,
      responder: EmulatedResponder(responder, chain: identity.chain))
  }

  /// Signs with the caller's own identities. By default the test authority signs app receipts.
  package init(
    jws: SigningIdentity, appReceipts: SigningIdentity? = nil, responder: EmulatedResponder? = nil
  ) throws(SigningError) {
    let appReceipts = if let appReceipts { appReceipts } else { try TestAuthority.rsa().identity }
    self.responder = responder
    self.identity = jws
    self.jws = try JWSSigner(identity: jws)
    self.appReceipts = try AppReceiptSigner(identity: appReceipts)
    self.untrusted = try JWSSigner(identity: TestAuthority.es256().identity(.foreignRoot))
    guard let root = jws.chain.last, let appReceiptRoot = appReceipts.chain.last else {
      throw SigningError(.emptyChain, "The identity has no certificates.")
    }
    self.root = root
    self.appReceiptRoot = appReceiptRoot
  }

  /// Signs a payload. Signing fails only if memory runs out. The result is then an empty string, which no verifier
  /// accepts.
  func sign(_ payload: JWSPayload) -> String { (try? jws.sign(payload)) ?? "" }
}

/// Faults of the signed payloads in a body.
extension EmulatorSigning {
  /// The body with every signed payload in it replaced, at any depth. A body that is not JSON is not changed.
  func applying(_ fault: EmulatorFault, to body: [UInt8]) -> [UInt8] {
    guard let json = try? JSONValue(parsing: body) else { return body }
    return json.replacing { _, value in
      guard let text = value.string, text.hasPrefix("eyJ"),
        let jws = try? UnverifiedJWS(parsing: Array(text.utf8))
      else { return nil }
      return changed(jws, by: fault).map(JSONValue.string)
    }.encoded()
  }

  private func changed(_ jws: UnverifiedJWS, by fault: EmulatorFault) -> String? {
    switch fault {
    case .flippedBit: flipped(jws)
    case .untrustedSigner: signed(jws.payload, by: untrusted)
    case .otherApp:
      resigned(jws) { name, _ in
        ["bundleId": .string("com.example.other"), "appAppleId": .integer(1)][name ?? ""]
      }
    case .otherEnvironment:
      resigned(jws) { name, value in
        guard let name, ["environment", "receiptType"].contains(name) else { return nil }
        return value.string.map { .string($0 == "Production" ? "Sandbox" : "Production") }
      }
    default: nil
    }
  }

  /// Flips the lowest bit of the payload's middle byte. The result is often still JSON, but never the signed bytes.
  private func flipped(_ jws: UnverifiedJWS) -> String? {
    var payload = jws.payload
    payload[payload.count / 2] ^= 1
    let text = jws.compact
    let header = text[jws.encodedHeaderRange]
    let bytes =
      header + [UInt8(ascii: ".")] + Base64URL.encode(payload) + text[jws.signingInputRange.upperBound...]
    return String(decoding: bytes, as: UTF8.self)
  }

  private func resigned(_ jws: UnverifiedJWS, _ change: JSONValue.Replacement) -> String? {
    guard let payload = try? JSONValue(parsing: jws.payload) else { return nil }
    return signed(payload.replacing(change).encoded(), by: self.jws)
  }

  private func signed(_ payload: [UInt8], by signer: JWSSigner) -> String? {
    (try? signer.sign(encodedPayload: payload)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension JSONValue {
  /// Another value in place of one, if there is one; of a member also its name.
  fileprivate typealias Replacement = (_ name: String?, _ value: JSONValue) -> JSONValue?

  /// The value with values in it replaced, at any depth.
  fileprivate func replacing(of name: String? = nil, _ replacement: Replacement) -> JSONValue {
    if let other = replacement(name, self) { return other }
    return switch self {
    case .array(let elements): .array(elements.map { $0.replacing(replacement) })
    case .object(let members):
      .object(members.map { JSONMember(name: $0.name, value: $0.value.replacing(of: $0.name, replacement)) })
    default: self
    }
  }
}
