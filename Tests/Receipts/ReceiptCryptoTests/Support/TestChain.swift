// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto

/// A root, an intermediate and a leaf, as the App Store's are shaped.
struct TestChain {
  static let notBefore: Int64 = 1_600_000_000
  static let notAfter: Int64 = 1_900_000_000
  static let instant: Int64 = 1_700_000_000

  let rootKey: PrivateKey
  let intermediateKey: PrivateKey
  let leafKey: PrivateKey
  let root: Certificate
  let intermediate: Certificate
  let leaf: Certificate

  init(
    key: () throws -> PrivateKey = { try PrivateKey.generateP256() },
    root changeRoot: (inout CertificateTemplate) -> Void = { _ in },
    intermediate changeIntermediate: (inout CertificateTemplate) -> Void = { _ in },
    leaf changeLeaf: (inout CertificateTemplate) -> Void = { _ in }
  ) throws {
    rootKey = try key()
    intermediateKey = try key()
    leafKey = try key()

    var template = Self.template("Test Root")
    template.basicConstraints = .certificateAuthority(pathLength: nil)
    template.keyUsage = [.keyCertSign, .cRLSign]
    changeRoot(&template)
    root = try Certificate.issue(template, for: rootKey.publicKey, by: .itself(rootKey))

    template = Self.template("Test Intermediate")
    template.basicConstraints = .certificateAuthority(pathLength: 0)
    template.keyUsage = [.keyCertSign, .cRLSign]
    template.markers = ["1.2.840.113635.100.6.2.1"]
    changeIntermediate(&template)
    intermediate = try Certificate.issue(
      template, for: intermediateKey.publicKey, by: .authority(root, rootKey))

    template = Self.template("Test Leaf")
    template.basicConstraints = .endEntity
    template.keyUsage = .digitalSignature
    template.markers = ["1.2.840.113635.100.6.11.1"]
    changeLeaf(&template)
    leaf = try Certificate.issue(
      template, for: leafKey.publicKey, by: .authority(intermediate, intermediateKey))
  }

  static func template(_ commonName: String) -> CertificateTemplate {
    CertificateTemplate(
      subject: DistinguishedName(
        country: "DE", organization: "Prüfstand", organizationalUnit: "Tests", commonName: commonName),
      notBefore: notBefore, notAfter: notAfter)
  }
}
