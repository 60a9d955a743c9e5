// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptCrypto
public import ReceiptSigning
internal import ReceiptTesting

/// Who signs what the emulator answers.
public struct EmulatorSigning: Sendable {
  /// Whom clients of the JWS have to trust.
  public let root: Certificate
  /// Whom clients of app receipts have to trust.
  public let appReceiptRoot: Certificate

  /// Who answers whether these certificates were revoked; `nil` for identities of the caller's, whose issuer's
  /// key is not at hand.
  public let responder: EmulatedResponder?

  let jws: JWSSigner
  let untrusted: JWSSigner
  let appReceipts: AppReceiptSigner

  /// Signs with the published keys of the test authorities.
  public init() throws(SigningError) {
    try self.init(jws: TestAuthority.es256().identity, appReceipts: TestAuthority.rsa().identity)
  }

  /// Signs with the published keys of the test authority, by certificates that say where their OCSP responder
  /// is, such as `http://127.0.0.1:8080/ocsp`.
  ///
  /// - Parameters:
  ///   - ocspURL: Where it is.
  ///   - appReceipts: Signs app receipts; the test authority's by default.
  /// - Throws: `SigningError`, as the other initializer.
  public init(ocspURL: String, appReceipts: SigningIdentity? = nil) throws(SigningError) {
    let authority = try TestAuthority.es256()
    let identity = try authority.identity(ocspURL: ocspURL)
    let receipts = if let appReceipts { appReceipts } else { try TestAuthority.rsa().identity }
    let responder = TestRevocationResponder(authority, chain: identity.chain)
    try self.init(
      jws: identity, appReceipts: receipts,
      responder: EmulatedResponder(responder, chain: identity.chain))
  }

  /// Signs with identities of the caller's.
  ///
  /// - Throws: `SigningError` with `unsuitable-key` unless the first is on P-256 and the second RSA, or
  ///   `chain-length` unless the chains are of three certificates.
  public init(jws: SigningIdentity, appReceipts: SigningIdentity) throws(SigningError) {
    try self.init(jws: jws, appReceipts: appReceipts, responder: nil)
  }

  private init(
    jws: SigningIdentity, appReceipts: SigningIdentity, responder: EmulatedResponder?
  ) throws(SigningError) {
    self.responder = responder
    self.jws = try JWSSigner(identity: jws)
    self.appReceipts = try AppReceiptSigner(identity: appReceipts)
    self.untrusted = try JWSSigner(identity: TestAuthority.es256().identity(.foreignRoot))
    guard let root = jws.chain.last, let appReceiptRoot = appReceipts.chain.last else {
      throw SigningError(.emptyChain, "The identity has no certificates.")
    }
    self.root = root
    self.appReceiptRoot = appReceiptRoot
  }

  /// Signs a payload. Signing fails for want of memory alone; an empty text, which no verifier accepts, stands for
  /// that.
  func sign(_ payload: JWSPayload) -> String { (try? jws.sign(payload)) ?? "" }
}
