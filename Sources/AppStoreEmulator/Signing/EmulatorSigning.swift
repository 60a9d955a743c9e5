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

  let jws: JWSSigner
  let untrusted: JWSSigner
  let appReceipts: AppReceiptSigner

  /// Signs with the published keys of the test authorities.
  public init() throws(SigningError) {
    try self.init(jws: TestAuthority.es256().identity, appReceipts: TestAuthority.rsa().identity)
  }

  /// Signs with identities of the caller's.
  ///
  /// - Throws: `SigningError` with `unsuitable-key` unless the first is on P-256 and the second RSA, or
  ///   `chain-length` unless the chains are of three certificates.
  public init(jws: SigningIdentity, appReceipts: SigningIdentity) throws(SigningError) {
    self.jws = try JWSSigner(identity: jws)
    self.appReceipts = try AppReceiptSigner(identity: appReceipts)
    self.untrusted = try JWSSigner(identity: TestAuthority.es256().identity(.foreignRoot))
    guard let root = jws.chain.last, let appReceiptRoot = appReceipts.chain.last else {
      throw SigningError(.emptyChain, "The identity has no certificates.")
    }
    self.root = root
    self.appReceiptRoot = appReceiptRoot
  }

  /// Signs a payload. Signing fails for want of memory alone; an empty text, which nobody accepts, stands for
  /// that.
  func sign(_ payload: JWSPayload) -> String { (try? jws.sign(payload)) ?? "" }
}
