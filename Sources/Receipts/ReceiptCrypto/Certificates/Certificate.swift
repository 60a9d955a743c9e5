// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// An X.509 certificate (RFC 5280). Two certificates are equal if their DER is.
///
/// A certificate is not trusted by itself: `isSigned(by:)` checks a single signature, and the verifier determines the
/// trusted roots.
public struct Certificate: Sendable {
  let backing: CertificateBacking

  /// Decodes a certificate in DER, with nothing after it.
  ///
  /// The checks are stricter than OpenSSL's: all of it must be DER, the version must fit the fields, the dates must
  /// have the two forms of RFC 5280 section 4.1.2.5, and no extension may occur twice.
  ///
  /// - Throws: ``CryptoError/Code/malformedCertificate`` if it is not a certificate, or violates these rules; for a
  ///   violation the place is its byte offset.
  public init(der: [UInt8]) throws(CryptoError) {
    backing = try CertificateBacking(der: der)
  }

  /// The certificate's DER, exactly as decoded.
  public var der: [UInt8] { backing.der }

  /// The certificate as a PEM block with the label `CERTIFICATE`.
  public var pem: String { PEMBlock.encode(der, label: "CERTIFICATE") }

  /// The SHA-256 of the whole DER, 32 bytes, by which roots are pinned.
  public var sha256Fingerprint: [UInt8] { backing.fingerprint }

  /// The ``sha256Fingerprint`` as 64 lower-case hexadecimal digits.
  package var sha256FingerprintHex: String { Hexadecimal.encode(backing.fingerprint) }

  /// The contents octets of the serial number's INTEGER, most significant first, exactly as in the certificate.
  ///
  /// If the first bit of the number is set, a zero octet precedes it.
  public var serialNumber: [UInt8] {
    let encoded = unsafe OpenSSLBytes.encoded {
      unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(backing.certificate), $0)
    }
    return encoded.flatMap { DERSequence.contents(of: .integer, in: $0) }.map(Array.init) ?? []
  }

  /// The serial number in lower-case hexadecimal, two digits for each octet, without a leading zero octet.
  public var serialNumberHex: String {
    let octets = serialNumber
    return Hexadecimal.encode(octets.count > 1 && octets[0] == 0 ? octets[1...] : octets[...])
  }

  /// The first second of validity, in seconds since 1970-01-01T00:00:00Z.
  public var notBefore: Int64 { backing.notBefore }

  /// The last second of validity, in seconds since 1970-01-01T00:00:00Z.
  public var notAfter: Int64 { backing.notAfter }

  /// The subject's public key.
  ///
  /// A key that cannot be decoded has the kind `other` and verifies no signature.
  public var publicKey: PublicKey {
    PublicKey(subjectPublicKeyInfo: backing.subjectPublicKeyInfo, backing: backing.publicKey)
  }

  /// The object identifier of the signature algorithm; `1.2.840.10045.4.3.2`, for example, is ECDSA with SHA-256.
  package var signatureAlgorithmOID: String {
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_get0_signature(nil, &algorithm, backing.certificate)
    return unsafe OpenSSLObject.dotted(algorithm: algorithm)
  }

  /// Returns `true` if the issuer's key made this certificate's signature. It checks neither names nor dates nor
  /// extensions. It returns `false` for algorithms and keys that are not supported.
  package func isSigned(by issuer: Certificate) -> Bool {
    guard let key = issuer.publicKey.backing, key.isSupported else { return false }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    return unsafe X509_verify(backing.certificate, key.key) == 1
  }
}

extension Certificate: Hashable {
  /// Returns `true` if both certificates have the same DER.
  public static func == (lhs: Certificate, rhs: Certificate) -> Bool {
    lhs.backing === rhs.backing || lhs.backing.der == rhs.backing.der
  }

  /// Hashes the fingerprint, which is already computed and shorter than the DER.
  public func hash(into hasher: inout Hasher) { hasher.combine(backing.fingerprint) }
}

extension Certificate: CustomStringConvertible {
  /// The subject and the serial number.
  public var description: String { "Certificate(\(subject), serial \(serialNumberHex))" }
}

extension Certificate {
  /// Reads the certificates of a file: one in DER, or one or more PEM blocks with the label `CERTIFICATE`, in order.
  ///
  /// Other blocks and text are skipped.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` if the text is malformed or contains no certificate, or
  ///   ``CryptoError/Code/malformedCertificate`` if a certificate cannot be decoded.
  public static func certificates(in file: [UInt8]) throws(CryptoError) -> [Certificate] {
    // A certificate is a SEQUENCE of more than 127 bytes, so its second byte, the first of the length, is not ASCII.
    if file.starts(with: [0x30]), file.dropFirst().first ?? 0 >= 0x80 { return [try Certificate(der: file)] }
    var certificates: [Certificate] = []
    for block in try PEMBlock.blocks(in: file) where block.label == "CERTIFICATE" {
      certificates.append(try Certificate(der: block.bytes))
    }
    guard !certificates.isEmpty else {
      throw CryptoError(
        .malformedPEM, "There is no certificate in this file; expected DER, or PEM with a CERTIFICATE block.")
    }
    return certificates
  }
}

extension Certificate {
  /// RSA PKCS#1 v1.5 and ECDSA with SHA-256, SHA-384 or SHA-512 (RFC 8017, RFC 5758), as dotted object identifiers.
  package static let sha2SignatureOIDs: Set<String> = [
    ObjectIdentifiers.sha256WithRSAEncryption, ObjectIdentifiers.sha384WithRSAEncryption,
    ObjectIdentifiers.sha512WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA256,
    ObjectIdentifiers.ecdsaWithSHA384, ObjectIdentifiers.ecdsaWithSHA512,
  ]
}
