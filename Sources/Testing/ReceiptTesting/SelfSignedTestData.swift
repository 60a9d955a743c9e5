// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptCrypto
package import ReceiptSigning

/// Signs JWS as Xcode's local testing does, with one self-signed certificate and with `kid` and `typ` in the header.
/// Such data does not prove a purchase. A verifier refuses it unless its policy pins ``certificate``.
package struct SelfSignedTestData: Sendable {
  /// The self-signed certificate, which a policy can pin.
  package let certificate: Certificate

  private let signer: JWSSigner

  /// Creates a signer with a fixed test key and certificate.
  package init() throws(SigningError) {
    let key = try TestKeys.key(ES256TestKeys.selfSigned)
    let certificate = try TestKeys.certificate(TestCertificates.selfSigned)
    let identity = try SigningIdentity(privateKey: key, chain: [certificate])
    let header = JWSHeader(x5c: [certificate.der], kid: "Apple_Xcode_Key", typ: "JWT")
    self.certificate = certificate
    self.signer = JWSSigner(unchecked: identity, header: header.encoded())
  }

  /// Signs a payload.
  package func sign(_ payload: JWSPayload) throws(SigningError) -> String { try signer.sign(payload) }
}
