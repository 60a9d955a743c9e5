// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct CertificateTests {
  @Test func `issued certificates can be read again`() throws {
    let serialNumber: [UInt8] = [0x9A, 0x01]
    let chain = try TestChain(leaf: { template in
      template.serialNumber = serialNumber
      template.extendedKeyUsages = ["1.3.6.1.5.5.7.3.4"]
      template.additionalExtensions = [.init(oid: "1.2.3.4", isCritical: true, value: [4, 1, 7])]
    })
    let leaf = chain.leaf
    #expect(leaf.subject == "CN=Test Leaf,OU=Tests,O=Prüfstand,C=DE")
    #expect(leaf.issuer == "CN=Test Intermediate,OU=Tests,O=Prüfstand,C=DE")
    #expect(leaf.subjectCommonName == "Test Leaf")
    #expect(leaf.subjectOrganization == "Prüfstand")
    #expect(leaf.issuerCommonName == "Test Intermediate")
    #expect(leaf.issuerOrganization == "Prüfstand")
    #expect(leaf.issuerDER == chain.intermediate.subjectDER)
    #expect(leaf.serialNumber == [0x00, 0x9A, 0x01])
    #expect(leaf.serialNumberHex == "9a01")
    #expect(leaf.notBefore == TestChain.notBefore)
    #expect(leaf.notAfter == TestChain.notAfter)
    #expect(leaf.publicKey == chain.leafKey.publicKey)
    #expect(leaf.signatureAlgorithmOID == "1.2.840.10045.4.3.2")
    #expect(leaf.keyUsage == .digitalSignature)
    #expect(!leaf.isCertificateAuthority)
    #expect(leaf.pathLengthConstraint == nil)
    #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
    #expect(!leaf.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(!leaf.hasExtension("no identifier"))
    #expect(leaf.authorityKeyIdentifier == chain.intermediate.subjectKeyIdentifier)
    #expect(leaf.subjectKeyIdentifier?.count == 20)
    #expect(leaf.ocspURLs.isEmpty)
    #expect(leaf.crlURLs.isEmpty)
    #expect(!leaf.isSelfIssued)
    #expect(chain.root.isSelfIssued)
    #expect(chain.root.keyUsage == [.keyCertSign, .cRLSign])
    #expect(chain.intermediate.isCertificateAuthority)
    #expect(chain.intermediate.pathLengthConstraint == 0)
    #expect(chain.root.pathLengthConstraint == nil)

    let identifiers = leaf.extensions.map(\.oid)
    #expect(
      identifiers == [
        "2.5.29.19", "2.5.29.15", "2.5.29.37", "1.2.840.113635.100.6.11.1", "1.2.3.4", "2.5.29.14",
        "2.5.29.35",
      ])
    #expect(leaf.extensions[0] == .init(oid: "2.5.29.19", isCritical: true, value: [0x30, 0]))
    #expect(leaf.extensions[1] == .init(oid: "2.5.29.15", isCritical: true, value: [3, 2, 7, 0x80]))
    #expect(leaf.extensions[3].value == [5, 0])
    #expect(!leaf.extensions[3].isCritical)
    #expect(leaf.extensions[4].isCritical)
  }

  @Test func `equality and fingerprint depend on the DER`() throws {
    let chain = try TestChain()
    let again = try Certificate(der: chain.leaf.der)
    #expect(again == chain.leaf)
    #expect(Set([again, chain.leaf, chain.root]).count == 2)
    #expect(again != chain.root)
    #expect(again.sha256Fingerprint == Digest.hash(chain.leaf.der, using: .sha256))
    #expect(bytes(hex: again.sha256FingerprintHex) == again.sha256Fingerprint)
  }

  @Test func `a file holds one certificate in DER or several in PEM`() throws {
    let chain = try TestChain()
    #expect(try Certificate.certificates(in: chain.root.der) == [chain.root])
    let text = "subject: leaf\n" + chain.leaf.pem + KeyFixtures.pkcs8 + "\n" + chain.intermediate.pem
    #expect(try Certificate.certificates(in: Array(text.utf8)) == [chain.leaf, chain.intermediate])
    for empty in ["", "0", "hello", KeyFixtures.pkcs8] {
      let error = #expect(throws: CryptoError.self) { try Certificate.certificates(in: Array(empty.utf8)) }
      #expect(error?.code == .malformedPEM)
    }
    let trailing = #expect(throws: CryptoError.self) {
      try Certificate.certificates(in: chain.root.der + [0x0A])
    }
    #expect(trailing?.code == .malformedCertificate)
    let notCertificate = KeyFixtures.publicKey.replacing("PUBLIC KEY", with: "CERTIFICATE")
    let error = #expect(throws: CryptoError.self) {
      try Certificate.certificates(in: Array(notCertificate.utf8))
    }
    #expect(error?.code == .malformedCertificate)
  }

  @Test func `bytes after a certificate, or missing from it, are malformed`() throws {
    let der = try TestChain().leaf.der
    let error = #expect(throws: CryptoError.self) { try Certificate(der: der + [0]) }
    #expect(error?.code == .malformedCertificate)
    for length in 0..<der.count {
      let error = #expect(throws: CryptoError.self) { try Certificate(der: Array(der[..<length])) }
      #expect(error?.code == .malformedCertificate)
    }
  }

  @Test func `an altered bit is rejected, or breaks the signature`() throws {
    let chain = try TestChain()
    let der = chain.leaf.der
    for bit in 0..<(der.count * 8) {
      var altered = der
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let certificate = try? Certificate(der: altered) else { continue }
      #expect(certificate.der == altered)
      #expect(certificate != chain.leaf)
      #expect(!certificate.isSigned(by: chain.intermediate))
      // None of these may crash on what an attacker wrote.
      _ = (
        certificate.subject, certificate.issuer, certificate.subjectCommonName, certificate.serialNumberHex
      )
      _ = (certificate.extensions, certificate.keyUsage, certificate.crlURLs, certificate.ocspURLs)
      _ = (certificate.publicKey.kind, certificate.signatureAlgorithmOID, certificate.subjectKeyIdentifier)
      _ = (certificate.authorityKeyIdentifier, certificate.pathLengthConstraint, certificate.description)
    }
  }

  @Test func `an indefinite length is not DER`() throws {
    let der = try TestChain().leaf.der
    let indefinite: [UInt8] = [0x30, 0x80] + der[4...] + [0, 0]
    let error = #expect(throws: CryptoError.self) { try Certificate(der: indefinite) }
    #expect(error?.code == .malformedCertificate)
  }

  @Test func `an extension that occurs twice is malformed`() throws {
    let error = #expect(throws: CryptoError.self) {
      try TestChain(leaf: {
        $0.additionalExtensions = [.init(oid: "2.5.29.15", isCritical: true, value: [3, 2, 7, 128])]
      })
    }
    #expect(error?.code == .malformedCertificate)
  }

  @Test func `dates before 2050 and after are kept to the second`() throws {
    // 1950-01-01T00:00:00Z, 2049-12-31T23:59:59Z, 2050-01-01T00:00:00Z, 9999-12-31T23:59:59Z.
    for (notBefore, notAfter): (Int64, Int64) in [
      (-631_152_000, 2_524_607_999), (2_524_607_999, 2_524_608_000), (0, 253_402_300_799),
    ] {
      let leaf = try TestChain(leaf: { ($0.notBefore, $0.notAfter) = (notBefore, notAfter) }).leaf
      #expect(leaf.notBefore == notBefore)
      #expect(leaf.notAfter == notAfter)
    }
  }

  @Test func `revocation pointers are read`() throws {
    // The same URL as authority information access (OCSP) and as CRL distribution point.
    let url = Array("http://a.test/x".utf8)
    let uri: [UInt8] = [0x86, UInt8(url.count)] + url
    let access: [UInt8] = [0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01] + uri
    func wrapped(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
    let leaf = try TestChain(leaf: { template in
      template.additionalExtensions = [
        .init(oid: "1.3.6.1.5.5.7.1.1", isCritical: false, value: wrapped(0x30, wrapped(0x30, access))),
        .init(
          oid: "2.5.29.31", isCritical: false,
          value: wrapped(0x30, wrapped(0x30, wrapped(0xA0, wrapped(0xA0, uri))))),
      ]
    }).leaf
    #expect(leaf.ocspURLs == ["http://a.test/x"])
    #expect(leaf.crlURLs == ["http://a.test/x"])
  }
}
