// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Encodings that OCSP and revocation lists share (RFC 5280, RFC 6960).
extension ASN1Writer {
  /// Writes an object identifier in dotted form. For an invalid one, nothing is written.
  mutating func write(oid: String) {
    if let identifier = ObjectIdentifier(oid) { write(identifier) }
  }

  mutating func write(algorithm oid: String, hasNull: Bool) {
    write(.sequence) { algorithm in
      algorithm.write(oid: oid)
      if hasNull { algorithm.writeNull() }
    }
  }

  /// Writes the AlgorithmIdentifier of a key's signatures.
  mutating func write(signatureAlgorithmOf key: PrivateKey, _ digest: DigestAlgorithm) {
    let (rsa, ecdsa) =
      switch digest {
      case .sha1: (ObjectIdentifiers.sha1WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA1)
      case .sha256: (ObjectIdentifiers.sha256WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA256)
      case .sha384: (ObjectIdentifiers.sha384WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA384)
      case .sha512: (ObjectIdentifiers.sha512WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA512)
      }
    write(algorithm: key.isRSA ? rsa : ecdsa, hasNull: key.isRSA)
  }

  mutating func write(_ extensions: [Certificate.Extension]) {
    write(.sequence) { list in
      for each in extensions {
        list.write(.sequence) { fields in
          fields.write(oid: each.oid)
          if each.isCritical { fields.write(boolean: true) }
          fields.write(octetString: each.value)
        }
      }
    }
  }

  mutating func write(_ reason: CRLReason) {
    write(.enumerated, contents: [UInt8(clamping: reason.rawValue)])
  }

  /// Writes the CertID of a certificate (OCSP).
  mutating func write(identifierOf certificate: Certificate, _ issuer: Certificate, _ hash: DigestAlgorithm) {
    write(
      identifierOf: certificate.serialNumber, issuerDER: certificate.issuerDER, issuer.publicKey, hash)
  }

  /// Writes the CertID of the certificate with a serial number of an issuer (OCSP).
  mutating func write(
    identifierOf serialNumber: [UInt8], issuerDER: [UInt8], _ key: PublicKey, _ hash: DigestAlgorithm
  ) {
    let oid =
      switch hash {
      case .sha1: ObjectIdentifiers.sha1
      case .sha256: ObjectIdentifiers.sha256
      case .sha384: ObjectIdentifiers.sha384
      case .sha512: ObjectIdentifiers.sha512
      }
    write(.sequence) { identifier in
      identifier.write(algorithm: oid, hasNull: true)
      identifier.write(octetString: Digest.hash(issuerDER, using: hash))
      identifier.write(octetString: Digest.hash(key.bits, using: hash))
      identifier.write(.integer, contents: serialNumber)
    }
  }

  /// Writes a GeneralizedTime, from seconds since 1970 to the end of 9999.
  mutating func write(generalizedTime seconds: Int64) {
    write(ASN1Tag(shortForm: 0x18), contents: Self.text(of: seconds))
  }

  /// Writes a UTCTime until the end of 2049, and a GeneralizedTime after that.
  mutating func write(time seconds: Int64) {
    guard seconds < 2_524_608_000 else { return write(generalizedTime: seconds) }
    write(.utcTime, contents: Self.timeText(of: seconds))
  }

  /// The contents octets of a UTCTime until the end of 2049, and of a GeneralizedTime after that.
  static func timeText(of seconds: Int64) -> ArraySlice<UInt8> {
    text(of: seconds).dropFirst(seconds < 2_524_608_000 ? 2 : 0)
  }

  private static func text(of seconds: Int64) -> [UInt8] {
    let date = CivilDateTime(secondsSince1970: min(max(0, seconds), 253_402_300_799))
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return date.text(separator: UInt8(ascii: "-")).filter { digits ~= $0 } + [UInt8(ascii: "Z")]
  }
}

extension [UInt8] {
  /// Signs these bytes. The result is a SEQUENCE of the bytes, the algorithm and the signature, as in certificates,
  /// lists and responses.
  func signed(
    by key: PrivateKey, _ digest: DigestAlgorithm, certificates: [Certificate] = []
  ) throws(CryptoError) -> [UInt8] {
    let signature = try key.signature(for: self, using: key.isRSA ? .rsaPKCS1v15(digest) : .ecdsa(digest))
    return ASN1Writer.encoding { writer in
      writer.write(.sequence) { signed in
        signed.append(self)
        signed.write(signatureAlgorithmOf: key, digest)
        signed.write(.bitString, contents: [0] + signature)
        guard !certificates.isEmpty else { return }
        signed.write(.contextSpecificConstructed(0)) { explicit in
          explicit.write(.sequence) { list in for each in certificates { list.append(each.der) } }
        }
      }
    }
  }
}

extension PrivateKey {
  fileprivate var isRSA: Bool {
    if case .rsa = publicKey.kind { true } else { false }
  }
}

extension PublicKey {
  /// The bits of the SubjectPublicKeyInfo's BIT STRING, without the count of unused bits.
  var bits: [UInt8] {
    guard let last = DERSequence.elements(of: subjectPublicKeyInfo)?.last else { return [] }
    return Array(subjectPublicKeyInfo[last.contents].dropFirst())
  }
}
