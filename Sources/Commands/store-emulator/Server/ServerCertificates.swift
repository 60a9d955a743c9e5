// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptBytes
  import ReceiptCrypto

  /// The server's valid and flawed certificates, issued by an authority that is created at start.
  struct ServerCertificates {
    let authority: Certificate
    private let authorityKey: PrivateKey
    private let now: Int64
    private let host: String

    private static let day: Int64 = 86_400

    init(now: Int64, host: String) throws(CryptoError) {
      self.now = now
      self.host = host
      (authority, authorityKey) = try Self.makeAuthority(now)
    }

    /// Issues a certificate.
    ///
    /// The result is in PEM; the chain contains the authority's certificate after the server's.
    func issue(_ kind: Kind) throws(CryptoError) -> (chain: String, key: String) {
      var (issuer, issuerKey) = (authority, authorityKey)
      if kind == .untrusted { (issuer, issuerKey) = try Self.makeAuthority(now) }
      let key = try PrivateKey.generateP256()
      var template = CertificateTemplate(
        subject: DistinguishedName(organization: "ReceiptKit Test", commonName: "App Store Emulator"),
        notBefore: now - 10 * Self.day, notAfter: kind == .expired ? now - Self.day : now + 30 * Self.day)
      template.basicConstraints = .endEntity
      template.keyUsage = .digitalSignature
      template.extendedKeyUsages = [ObjectIdentifiers.serverAuthentication]
      let names =
        kind == .wrongHost ? ["other.example.com"] : Set(["localhost", "127.0.0.1", "::1", host]).sorted()
      template.additionalExtensions = [Self.subjectAlternativeName(names)]
      let certificate = try Certificate.issue(template, for: key.publicKey, by: .authority(issuer, issuerKey))
      return (certificate.pem + issuer.pem, try key.pkcs8PEM())
    }

    private static func makeAuthority(_ now: Int64) throws(CryptoError) -> (Certificate, PrivateKey) {
      let key = try PrivateKey.generateP256()
      var template = CertificateTemplate(
        subject: DistinguishedName(organization: "ReceiptKit Test", commonName: "App Store Emulator TLS CA"),
        notBefore: now - 10 * day, notAfter: now + 30 * day)
      template.basicConstraints = .certificateAuthority(pathLength: nil)
      template.keyUsage = [.keyCertSign, .cRLSign]
      return (try Certificate.issue(template, for: key.publicKey, by: .itself(key)), key)
    }

    /// GeneralNames (RFC 5280 section 4.2.1.6): dNSName is [2], iPAddress is [7].
    private static func subjectAlternativeName(_ names: [String]) -> Certificate.Extension {
      let value = ASN1Writer.encoding { writer in
        writer.write(.sequence) { list in
          for name in names {
            if let address = IPAddress.resolve(name, isNumeric: true).first {
              list.write(.contextSpecific(7), contents: address.bytes)
            } else {
              list.write(.contextSpecific(2), contents: Array(name.utf8))
            }
          }
        }
      }
      return Certificate.Extension(
        oid: ObjectIdentifiers.subjectAlternativeName, isCritical: false, value: value)
    }
  }
#endif
