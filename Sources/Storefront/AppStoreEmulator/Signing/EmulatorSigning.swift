// SPDX-License-Identifier: Apache-2.0

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
