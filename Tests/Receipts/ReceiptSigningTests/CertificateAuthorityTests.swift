// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct CertificateAuthorityTests {
  @Test(arguments: CertificateAuthority.Algorithm.allCases)
  func oneCallMakesAnIdentityWithASoundPath(algorithm: CertificateAuthority.Algorithm) throws {
    let identity = try SigningIdentity.create(.init(algorithm: algorithm, start: testStart, days: 365))
    try #require(identity.chain.count == 3)
    let (leaf, intermediate, root) = (identity.chain[0], identity.chain[1], identity.chain[2])
    let failure = try CertificationPath.failure(
      leaf: leaf, intermediates: [intermediate], anchor: root, at: leaf.notAfter - 1)
    #expect(failure == nil)
    let kind: PublicKey.Kind = algorithm == .es256 ? .p256 : .rsa(bits: 2048)
    #expect(identity.chain.map(\.publicKey.kind) == [kind, kind, kind])

    #expect(root.isSelfIssued && root.isCertificateAuthority && root.pathLengthConstraint == nil)
    #expect(root.keyUsage == [.keyCertSign, .cRLSign])
    #expect(intermediate.isCertificateAuthority && intermediate.pathLengthConstraint == 0)
    #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(!leaf.isCertificateAuthority && leaf.keyUsage == .digitalSignature)
    #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
    #expect(!leaf.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(leaf.authorityKeyIdentifier == intermediate.subjectKeyIdentifier)
    #expect(intermediate.authorityKeyIdentifier == root.subjectKeyIdentifier)
    #expect(leaf.subjectKeyIdentifier?.count == 20)
    for certificate in identity.chain {
      #expect(certificate.serialNumber.count == 16)
      #expect(certificate.serialNumber.first.map { $0 & 0x80 } == 0)
    }
    #expect(Set(identity.chain.map(\.serialNumber)).count == 3)
  }

  @Test func validityCountsFromTheGivenStart() throws {
    var options = CertificateAuthority.Options(start: testStart, days: 30)
    let chain = try SigningIdentity.create(options).chain
    #expect(chain.map(\.notBefore) == [1_759_276_800, 1_759_276_800, 1_759_276_800])
    #expect(chain[0].notAfter == 1_759_276_800 + 30 * 86_400)
    #expect(chain[1].notAfter > chain[0].notAfter)
    #expect(chain[2].notAfter > chain[1].notAfter)
    options.validFrom = Timestamp(secondsSince1970: 1_000_000_000)
    let backdated = try SigningIdentity.create(options).chain
    #expect(backdated.map(\.notBefore) == [1_000_000_000, 1_000_000_000, 1_000_000_000])
    #expect(backdated[0].notAfter == chain[0].notAfter)
  }

  @Test func namesMarkersAndSerialNumbersMayBeChosen() throws {
    var options = CertificateAuthority.Options(organization: "Example Store", start: testStart)
    options.leafName = "Till 7"
    options.leafMarker = "1.3.6.1.4.1.99999.1"
    options.intermediateMarker = "1.3.6.1.4.1.99999.2"
    options.rootSerialNumber = [1]
    options.intermediateSerialNumber = [2]
    let authority = try CertificateAuthority.create(options)
    let identity = try authority.issueLeaf(serialNumber: [3])
    #expect(identity.chain.map(\.serialNumber) == [[3], [2], [1]])
    #expect(identity.chain[0].subjectCommonName == "Till 7")
    #expect(identity.chain[0].subjectOrganization == "Example Store")
    #expect(identity.chain[2].subjectCommonName == "Example Store Receipt Root CA")
    #expect(identity.chain[0].hasExtension("1.3.6.1.4.1.99999.1"))
    #expect(identity.chain[1].hasExtension("1.3.6.1.4.1.99999.2"))
  }

  @Test func furtherLeavesAreIssuedLaterUnderTheKeptIntermediate() throws {
    let options = CertificateAuthority.Options(start: testStart, days: 100)
    let authority = try CertificateAuthority.create(options)
    let first = try authority.issueLeaf()
    var later = options
    later.start = testStart.addingSeconds(86_400 * 4000)
    later.validFrom = testStart
    later.leafDays = 100_000
    let second = try CertificateAuthority(options: later, intermediate: authority.intermediate).issueLeaf()
    #expect(second.chain[2] == first.chain[2])
    #expect(second.chain[0] != first.chain[0])
    #expect(second.privateKey.publicKey != first.privateKey.publicKey)
    // A leaf does not outlive its issuer.
    #expect(second.chain[0].notAfter == authority.intermediate.chain[0].notAfter)
    let error = signingError { () throws(SigningError) in
      try CertificateAuthority(options: options, intermediate: first)
    }
    #expect(error?.code == .chainLength)
  }

  @Test func whatX509CannotExpressIsRefused() {
    func code(_ change: (inout CertificateAuthority.Options) -> Void) -> SigningError.Code? {
      var options = CertificateAuthority.Options(start: testStart)
      change(&options)
      return signingError { () throws(SigningError) in try CertificateAuthority.create(options) }?.code
    }
    #expect(code { $0.rootName = String(repeating: "x", count: 65) } == .invalidValue)
    #expect(code { $0.leafDays = .max } == .invalidValue)
    #expect(code { $0.start = Timestamp(millisecondsSince1970: .infinity) } == .invalidValue)
    #expect(code { $0.intermediateMarker = "no identifier" } == .invalidValue)
    #expect(code { $0.rootSerialNumber = [] } == .invalidValue)
  }
}
