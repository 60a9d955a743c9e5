// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

/// Apple's certificates and the chains of published receipts.
@Suite(.enabled(if: SharedData.has("receipts/trust"), "published receipts are not beside the package"))
struct GenuineCertificateTests {
  static let rootFingerprints = [
    "AppleRootCA.cer": "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
    "AppleRootCA-G2.cer": "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
    "AppleRootCA-G3.cer": "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
  ]

  static func certificate(_ name: String) throws -> Certificate {
    try Certificate(der: SharedData.bytes("receipts/trust/\(name)"))
  }

  @Test func `every certificate can be read, and has the values of the manifest`() throws {
    let listed = try Self.listedCertificates()
    #expect(listed.count > 20)
    var matched = 0
    for name in try SharedData.files(in: "receipts/trust") where name.hasSuffix(".cer") {
      let certificate = try Self.certificate(name)
      #expect(certificate.isCertificateAuthority)
      #expect(certificate.keyUsage?.contains(.keyCertSign) == true)
      #expect(try Certificate.certificates(in: Array(certificate.pem.utf8)) == [certificate])
      #expect(
        try PublicKey(subjectPublicKeyInfo: certificate.publicKey.subjectPublicKeyInfo).kind
          == certificate.publicKey.kind)
      guard let entry = listed[certificate.sha256FingerprintHex] else { continue }
      matched += 1
      #expect(certificate.subjectCommonName == entry.name)
      #expect(Self.trimmed(certificate.serialNumberHex) == entry.serial)
    }
    #expect(matched >= 8)
  }

  @Test func `the roots have their published fingerprints, and signed themselves`() throws {
    for (name, fingerprint) in Self.rootFingerprints {
      let root = try Self.certificate(name)
      #expect(root.sha256FingerprintHex == fingerprint)
      #expect(root.isSelfIssued)
      #expect(root.isSigned(by: root))
    }
    // RFC 4514 writes the last part of a name first; Apple encoded this one the other way round than its
    // first.
    let first = try Self.certificate("AppleRootCA.cer")
    #expect(first.subject == "CN=Apple Root CA,OU=Apple Certification Authority,O=Apple Inc.,C=US")
    let g3 = try Self.certificate("AppleRootCA-G3.cer")
    #expect(g3.publicKey.kind == .p384)
    #expect(g3.subject == "C=US,O=Apple Inc.,OU=Apple Certification Authority,CN=Apple Root CA - G3")
    #expect(g3.notBefore == 1_398_881_946)
    #expect(g3.notAfter == 2_187_800_346)
  }

  @Test func `an intermediate has its fields`() throws {
    let g6 = try Self.certificate("AppleWWDRCA-G6-ECC.cer")
    let g3 = try Self.certificate("AppleRootCA-G3.cer")
    #expect(g6.isSigned(by: g3))
    #expect(!g6.isSigned(by: try Self.certificate("AppleRootCA-G2.cer")))
    #expect(g6.issuerDER == g3.subjectDER)
    #expect(g6.issuer == g3.subject)
    #expect(g6.issuerOrganization == "Apple Inc.")
    #expect(g6.pathLengthConstraint == 0)
    #expect(g6.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(!g3.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(g6.authorityKeyIdentifier == g3.subjectKeyIdentifier)
    #expect(g6.ocspURLs == ["http://ocsp.apple.com/ocsp03-applerootcag3"])
    #expect(g6.crlURLs == ["http://crl.apple.com/applerootcag3.crl"])
    #expect(g6.signatureAlgorithmOID == "1.2.840.10045.4.3.3")
    #expect(g6.keyUsage == [.keyCertSign, .cRLSign])
  }

  @Test func `two intermediates share subject and key, and differ`() throws {
    let older = try Self.certificate("AppleWWDRCA-2008-serial19.cer")
    let newer = try Self.certificate("AppleWWDRCA-G1-2013.cer")
    #expect(older.subjectDER == newer.subjectDER)
    #expect(older.publicKey == newer.publicKey)
    #expect(older != newer)
    #expect(older.isSigned(by: try Self.certificate("AppleRootCA.cer")))
  }

  @Test func `altered bits of genuine certificates are rejected, or break the signature`() throws {
    for (name, issuer) in [
      ("AppleWWDRCA-2008-serial19.cer", "AppleRootCA.cer"), ("AppleWWDRCA-G6-ECC.cer", "AppleRootCA-G3.cer"),
    ] {
      let der = try Self.certificate(name).der
      let root = try Self.certificate(issuer)
      // One bit an octet: every field is touched, and the test stays quick.
      for index in 0..<der.count {
        var altered = der
        altered[index] ^= 1 << UInt8(index % 8)
        guard let certificate = try? Certificate(der: altered) else { continue }
        #expect(!certificate.isSigned(by: root), "\(name) octet \(index)")
        _ = (certificate.subject, certificate.extensions, certificate.crlURLs, certificate.publicKey.kind)
      }
    }
  }

  @Test func `every genuine JWS chain is valid at its signing time, and no other`() throws {
    let roots = try Self.rootFingerprints.keys.map(Self.certificate)
    var valid = 0
    for entry in try Self.manifest() where entry["kind"] as? String == "jws" {
      guard let name = entry["file"] as? String, let chain = try Self.chain(ofJWS: name), chain.count == 3,
        let anchor = roots.first(where: { $0 == chain[2] })
      else { continue }
      let failure = try CertificationPath.failure(
        leaf: chain[0], intermediates: [chain[1]], anchor: anchor, at: chain[0].notBefore)
      #expect(failure == nil, "\(name)")
      #expect(
        try CertificationPath.failure(
          leaf: chain[0], intermediates: [chain[1]], anchor: anchor, at: chain[0].notAfter + 1)?.errorCode
          == CertificationPath.Failure.expired)
      #expect(chain[0].publicKey.kind == .p256)
      valid += 1
    }
    #expect(valid > 10)
  }

  @Test func `OpenSSL's CMS call reads the content of every genuine app receipt`() throws {
    var valid = 0
    for entry in try Self.manifest()
    where entry["accept"] as? Bool == true && (entry["kind"] as? String)?.hasPrefix("app-receipt") == true {
      guard let name = entry["file"] as? String, let expected = entry["expected"] as? [String: Any],
        let digest = expected["payload_sha256"] as? String
      else { continue }
      let content = CMSReference.verify(try Self.message(name))
      #expect(content.map { Digest.hash($0, using: .sha256) } == bytes(hex: digest), "\(name)")
      valid += 1
    }
    #expect(valid > 10)
  }

  // MARK: Reading the manifest

  static func manifest() throws -> [[String: Any]] {
    let data = Data(try SharedData.bytes("receipts/manifest.json"))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
  }

  /// Common name and serial number by fingerprint.
  static func listedCertificates() throws -> [String: (name: String, serial: String)] {
    var found: [String: (name: String, serial: String)] = [:]
    func visit(_ value: Any) {
      if let list = value as? [Any] { list.forEach(visit) }
      guard let object = value as? [String: Any] else { return }
      if let fingerprint = object["sha256"] as? String, let name = object["cn"] as? String,
        let serial = object["serial"] as? String
      {
        found[fingerprint] = (name, trimmed(String(serial.dropFirst(2))))
      }
      object.values.forEach(visit)
    }
    try manifest().forEach(visit)
    return found
  }

  static func trimmed(_ hex: String) -> String { String(hex.drop { $0 == "0" }) }

  static func chain(ofJWS name: String) throws -> [Certificate]? {
    let text = String(decoding: try SharedData.bytes("receipts/\(name)"), as: UTF8.self)
    guard let header = text.split(separator: ".").first else { return nil }
    var base64 = String(header).replacing("-", with: "+").replacing("_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    guard let data = Data(base64Encoded: base64),
      let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let list = object["x5c"] as? [String]
    else { return nil }
    return try list.map { try Certificate(der: [UInt8](Data(base64Encoded: $0) ?? Data())) }
  }

  static func message(_ name: String) throws -> [UInt8] {
    let file = try SharedData.bytes("receipts/\(name)")
    guard !name.hasSuffix(".der") else { return file }
    return [UInt8](Data(base64Encoded: Data(file), options: .ignoreUnknownCharacters) ?? Data())
  }
}
