// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
package import ReceiptSigning

extension TestAuthority {
  /// An identity whose leaf and intermediate have URLs for revocation checks. Each call creates new certificates.
  ///
  /// - Throws: `SigningError` if a URL or number is not valid in a certificate.
  package func identity(
    ocspURL: String?, crlURL: String? = nil, rootCRLURL: String? = nil, serialNumber: [UInt8] = [0x07]
  ) throws(SigningError) -> SigningIdentity {
    func pointers(list: String?) -> [Certificate.Extension] {
      let responder = ocspURL.map { Certificate.Extension.authorityInformationAccess(ocspURLs: [$0]) }
      return [responder, list.map { .crlDistributionPoints([$0]) }].compactMap { $0 }
    }
    var template = authority.options.intermediateTemplate
    template.serialNumber = [0x08]
    template.additionalExtensions = pointers(list: rootCRLURL)
    let intermediate = try CertificateAuthority.issue(
      template, for: keys.intermediate.publicKey, by: .authority(root, keys.root))
    template = authority.options.leafTemplate
    template.serialNumber = serialNumber
    template.additionalExtensions = pointers(list: crlURL)
    let leaf = try CertificateAuthority.issue(
      template, for: keys.leaf.publicKey, by: .authority(intermediate, keys.intermediate))
    return try SigningIdentity(privateKey: keys.leaf, chain: [leaf, intermediate, root])
  }
}
