// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
package import ReceiptSigning

extension TestAuthority {
  package func identity(_ flaw: Flaw) throws(SigningError) -> SigningIdentity {
    switch flaw {
    case .leafWithoutMarker: return try leaf { $0.markers = [] }
    case .leafIsAuthority: return try leaf { $0.basicConstraints = .certificateAuthority(pathLength: nil) }
    case .leafKeyUsage: return try leaf { $0.keyUsage = .keyEncipherment }
    case .expired: return try leaf { $0.notAfter = $0.notBefore + 366 * 86_400 - 1 }
    case .intermediateWithoutMarker: return try underIntermediate { $0.markers = [] }
    case .intermediateNotAuthority: return try underIntermediate { $0.basicConstraints = .endEntity }
    case .chainOfTwo:
      let leaf = try certificate(leafTemplate, for: keys.leaf, by: .authority(root, keys.root))
      return try SigningIdentity(privateKey: keys.leaf, chain: [leaf, root])
    case .chainOfFour: return try chainOfFour()
    case .foreignRoot: return try foreign().issueLeaf(key: keys.leaf, serialNumber: [0x03])
    case .forgedUnderGenuineRoot:
      let chain = try foreign().issueLeaf(key: keys.leaf, serialNumber: [0x03]).chain
      return SigningIdentity(uncheckedKey: keys.leaf, chain: [chain[0], chain[1], root])
    }
  }

  /// An identity whose leaf is valid only from the first to the second time, in seconds since 1970, both inclusive.
  package func identity(validFrom notBefore: Int64, to notAfter: Int64) throws(SigningError)
    -> SigningIdentity
  {
    try leaf {
      $0.notBefore = notBefore
      $0.notAfter = notAfter
    }
  }

  private var options: CertificateAuthority.Options { authority.options }

  /// The template of leaves. Its serial number is fixed, so that RSA signatures are the same in every run.
  private var leafTemplate: CertificateTemplate {
    var template = options.leafTemplate
    template.serialNumber = [0x04]
    return template
  }

  private func leaf(_ change: (inout CertificateTemplate) -> Void) throws(SigningError) -> SigningIdentity {
    var template = leafTemplate
    change(&template)
    return try authority.issueLeaf(template, key: keys.leaf)
  }

  private func underIntermediate(
    _ change: (inout CertificateTemplate) -> Void
  ) throws(SigningError) -> SigningIdentity {
    var template = options.intermediateTemplate
    template.serialNumber = [0x05]
    change(&template)
    let intermediate = try certificate(template, for: keys.intermediate, by: .authority(root, keys.root))
    let leaf = try certificate(
      leafTemplate, for: keys.leaf, by: .authority(intermediate, keys.intermediate))
    return try SigningIdentity(privateKey: keys.leaf, chain: [leaf, intermediate, root])
  }

  private func chainOfFour() throws(SigningError) -> SigningIdentity {
    var upper = options.intermediateTemplate
    upper.serialNumber = [0x06]
    upper.subject.commonName = "ReceiptKit Test Upper Intermediate CA"
    upper.basicConstraints = .certificateAuthority(pathLength: 1)
    let upperCertificate = try certificate(upper, for: keys.foreign, by: .authority(root, keys.root))
    let intermediate = try certificate(
      options.intermediateTemplate, for: keys.intermediate, by: .authority(upperCertificate, keys.foreign))
    let leaf = try certificate(
      leafTemplate, for: keys.leaf, by: .authority(intermediate, keys.intermediate))
    return try SigningIdentity(
      privateKey: keys.leaf, chain: [leaf, intermediate, upperCertificate, root])
  }

  private func foreign() throws(SigningError) -> CertificateAuthority {
    try CertificateAuthority.create(options, rootKey: keys.foreign, intermediateKey: keys.foreign)
  }

  private func certificate(
    _ template: CertificateTemplate, for key: PrivateKey, by issuer: CertificateIssuer
  ) throws(SigningError) -> Certificate {
    try CertificateAuthority.issue(template, for: key.publicKey, by: issuer)
  }
}
