// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// A chain of leaf, intermediate and root. One certificate breaks RFC 5280 under its issuer's genuine signature.
struct ForgedChain {
  let root: Certificate
  let leafKey: PrivateKey
  /// Issuer and serial number of the leaf, as a signerInfo names it.
  let issuer: [UInt8]
  let serialNumber: [UInt8]
  /// Leaf first.
  var der: [[UInt8]]
  /// The byte at which the forged certificate is wrong.
  var fault = 0

  static let markers = ["1.2.840.113635.100.6.11.1", "1.2.840.113635.100.6.2.1"]

  /// Forges certificate `index`, or none.
  init(leafKey: PrivateKey, forging index: Int? = nil, _ flaw: CertificateFlaw? = nil) throws {
    let options = try Fixture.rsa.authority.options
    let rootKey = try Fixture.rsa.authority.intermediate.privateKey
    let issuerKey = try Fixture.rsa.identity.privateKey
    self.leafKey = leafKey
    root = try CertificateAuthority.issue(
      options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    var template = options.intermediateTemplate
    template.extendedKeyUsages = ["1.3.6.1.5.5.7.3.4"]
    let intermediate = try CertificateAuthority.issue(
      template, for: issuerKey.publicKey, by: .authority(root, rootKey))
    template = options.leafTemplate
    template.extendedKeyUsages = ["1.3.6.1.5.5.7.3.4"]
    let leaf = try CertificateAuthority.issue(
      template, for: leafKey.publicKey, by: .authority(intermediate, issuerKey))
    der = [leaf.der, intermediate.der, root.der]
    issuer = leaf.issuerDER
    serialNumber = leaf.serialNumber
    guard let index, let flaw else { return }
    var certificate = try DERTree(parsing: der[index])
    let (path, plus) = try flaw.spoil(&certificate.children[0], Self.markers[index])
    let signature = try [issuerKey, rootKey][index]
      .signature(for: certificate.children[0].encoded, using: .rsaPKCS1v15(.sha256))
    certificate.children[2].content = [0] + signature
    der[index] = certificate.encoded
    fault = certificate.offset(of: [0] + path) + plus
  }

  var verifier: ReceiptVerifier {
    ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
  }

  /// A JWS that the leaf's key signed, with these certificates as `x5c`.
  func jws() throws -> [UInt8] {
    try ForgedJWS.signed(
      header: JWSHeader(x5c: der).encoded(), by: SigningIdentity(uncheckedKey: leafKey, chain: [root]))
  }

  /// An app receipt that the leaf's key signed, with these certificates embedded.
  func appReceipt() throws -> [UInt8] {
    let content = ForgedAppReceipt.sampleContent
    return CMSSignedData(
      content: content[...], digestAlgorithm: ObjectIdentifiers.sha256, certificates: der.map { $0[...] },
      issuer: issuer[...], serialNumber: serialNumber[...],
      signature: try leafKey.signature(for: content, using: .rsaPKCS1v15(.sha256))[...]
    ).encoded()
  }
}
