// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// An X.509 certificate (RFC 5280). Two are equal when their DER is.
///
/// Holding one says nothing about trust: ``isSigned(by:)`` checks one signature, and which root is believed
/// is for the verifier to say.
public struct Certificate: Sendable {
  let backing: CertificateBacking

  /// Reads one certificate in DER, with nothing after it.
  ///
  /// Beyond what OpenSSL demands, it must be DER throughout, with a version that goes with its fields, dates in the
  /// two forms of RFC 5280 section 4.1.2.5, and no extension twice.
  ///
  /// - Throws: ``CryptoError/Code/malformedCertificate`` where it is not one, or breaks these rules: then the place
  ///   is the byte where.
  public init(der: [UInt8]) throws(CryptoError) {
    backing = try CertificateBacking(der: der)
  }

  /// The certificate's bytes as they were read.
  public var der: [UInt8] { backing.der }

  /// The certificate as a `CERTIFICATE` block.
  public var pem: String { PEMBlock.encode(der, label: "CERTIFICATE") }

  /// SHA-256 of the whole DER, 32 bytes: what a root is pinned by.
  public var sha256Fingerprint: [UInt8] { backing.fingerprint }

  /// ``sha256Fingerprint`` in 64 lower-case hexadecimal digits.
  public var sha256FingerprintHex: String { Hexadecimal.encode(backing.fingerprint) }

  /// The content octets of the serial number's INTEGER, most significant first, exactly as in the
  /// certificate: a number whose first bit is set has a zero octet before it.
  public var serialNumber: [UInt8] {
    let encoded = unsafe OpenSSLBytes.encoded {
      unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(backing.certificate), $0)
    }
    return encoded.flatMap { DERSequence.contents(of: .integer, in: $0) }.map(Array.init) ?? []
  }

  /// The serial number in lower-case hexadecimal, two digits an octet, without the zero octet that may lead
  /// ``serialNumber``.
  public var serialNumberHex: String {
    let octets = serialNumber
    return Hexadecimal.encode(octets.count > 1 && octets[0] == 0 ? octets[1...] : octets[...])
  }

  /// First second of validity, in seconds since 1970-01-01T00:00:00Z.
  public var notBefore: Int64 { backing.notBefore }

  /// Last second of validity, in seconds since 1970-01-01T00:00:00Z.
  public var notAfter: Int64 { backing.notAfter }

  /// The subject's public key. One that cannot be decoded is of kind `other` and verifies nothing.
  public var publicKey: PublicKey {
    PublicKey(subjectPublicKeyInfo: backing.subjectPublicKeyInfo, backing: backing.publicKey)
  }

  /// The algorithm of the issuer's signature, in dotted form: `1.2.840.10045.4.3.2` is ECDSA with SHA-256.
  public var signatureAlgorithmOID: String {
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_get0_signature(nil, &algorithm, backing.certificate)
    var object: OpaquePointer?
    unsafe X509_ALGOR_get0(&object, nil, nil, algorithm)
    return unsafe OpenSSLObject.dotted(object)
  }

  /// Indicates whether `issuer`'s key made this certificate's signature. Names, dates and extensions are not looked at.
  ///
  /// `false` too for algorithms and keys that are not supported.
  public func isSigned(by issuer: Certificate) -> Bool {
    guard let key = issuer.publicKey.backing, key.isSupported else { return false }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    return unsafe X509_verify(backing.certificate, key.key) == 1
  }
}

extension Certificate: Hashable {
  /// Indicates whether both have the same DER.
  public static func == (lhs: Certificate, rhs: Certificate) -> Bool {
    lhs.backing === rhs.backing || lhs.backing.der == rhs.backing.der
  }

  /// Hashes the fingerprint, which is available and shorter than the DER.
  public func hash(into hasher: inout Hasher) { hasher.combine(backing.fingerprint) }
}

extension Certificate: CustomStringConvertible {
  /// The subject and the serial number.
  public var description: String { "Certificate(\(subject), serial \(serialNumberHex))" }
}

extension Certificate {
  /// Reads a certificate file: one certificate in DER, or PEM with one or more `CERTIFICATE` blocks, in the
  /// order of the file. Other blocks and text are skipped.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` where the text is damaged or holds no certificate,
  ///   ``CryptoError/Code/malformedCertificate`` where one cannot be read.
  public static func certificates(in file: [UInt8]) throws(CryptoError) -> [Certificate] {
    // A certificate is a SEQUENCE of more than 127 bytes: its second byte, of the length, is not ASCII.
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
