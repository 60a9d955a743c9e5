// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct IssuingTests {
  @Test func `the issuer's key must be its certificate's`() throws {
    let chain = try TestChain()
    let template = TestChain.template("Leaf")
    let key = try PrivateKey.generateP256()
    for issuer in [CertificateIssuer.authority(chain.root, chain.leafKey), .itself(chain.leafKey)] {
      let error = #expect(throws: CryptoError.self) {
        try Certificate.issue(template, for: key.publicKey, by: issuer)
      }
      #expect(error?.code == .keyMismatch)
    }
  }

  @Test func `a template that X.509 cannot represent is refused`() throws {
    let key = try PrivateKey.generateP256()
    let changes: [(inout CertificateTemplate) -> Void] = [
      { $0.serialNumber = [] }, { $0.serialNumber = [0, 0] },
      { $0.serialNumber = [UInt8](repeating: 1, count: 21) },
      { $0.subject.commonName = "" }, { $0.subject.commonName = String(repeating: "x", count: 65) },
      { $0.subject.country = "DEU" }, { $0.subject.country = "ÄÖ" },
      { $0.notAfter = $0.notBefore - 1 }, { $0.notAfter = .max }, { $0.notBefore = .min },
      { $0.markers = ["not an identifier"] }, { $0.markers = [""] }, { $0.extendedKeyUsages = ["1.2.x"] },
      { $0.additionalExtensions = [.init(oid: "9.9.9", isCritical: false, value: [])] },
      { $0.basicConstraints = .certificateAuthority(pathLength: -1) },
    ]
    for (index, change) in changes.enumerated() {
      var template = TestChain.template("Leaf")
      change(&template)
      let error = #expect(throws: CryptoError.self) {
        try Certificate.issue(template, for: key.publicKey, by: .itself(key))
      }
      #expect(error?.code == .invalidTemplate, "change \(index)")
    }
  }

  @Test(arguments: DigestAlgorithm.allCases)
  func `the template determines the digest of the signature`(digest: DigestAlgorithm) throws {
    let oids: [DigestAlgorithm: String] = [
      .sha1: "1.2.840.113549.1.1.5", .sha256: "1.2.840.113549.1.1.11", .sha384: "1.2.840.113549.1.1.12",
      .sha512: "1.2.840.113549.1.1.13",
    ]
    let key = try PrivateKey.generateRSA(bits: 1024)
    var template = TestChain.template("Old Root")
    template.digest = digest
    let root = try Certificate.issue(template, for: key.publicKey, by: .itself(key))
    #expect(root.signatureAlgorithmOID == oids[digest])
    #expect(root.isSigned(by: root))
  }

  @Test func `key identifiers can be omitted`() throws {
    let leaf = try TestChain(leaf: { $0.includesKeyIdentifiers = false }).leaf
    #expect(leaf.subjectKeyIdentifier == nil)
    #expect(leaf.authorityKeyIdentifier == nil)
  }

  @Test func `serial numbers are positive, of 16 octets, and differ`() {
    let numbers = (0..<100).map { _ in CertificateTemplate.randomSerialNumber() }
    #expect(Set(numbers).count == 100)
    #expect(numbers.allSatisfy { $0.count == 16 && $0[0] & 0x80 == 0 && $0[0] != 0 })
  }
}
