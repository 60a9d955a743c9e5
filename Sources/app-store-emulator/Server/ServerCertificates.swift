// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import ReceiptCrypto

  /// The certificates of the server, valid and flawed, issued by an authority that is created at start.
  struct ServerCertificates {
    /// The flaw of a server certificate.
    enum Kind: String, CaseIterable {
      /// None: it is for `localhost`, `127.0.0.1` and `::1`.
      case trusted
      /// Another authority issued it.
      case untrusted
      /// It is for `other.example.com`.
      case wrongHost = "wrong-host"
      /// It expired yesterday.
      case expired
    }

    let authority: Certificate
    private let authorityKey: PrivateKey
    private let now: Int64

    private static let day: Int64 = 86_400
    private static let serverAuthentication = "1.3.6.1.5.5.7.3.1"

    init(now: Int64) throws(CryptoError) {
      self.now = now
      (authority, authorityKey) = try Self.makeAuthority(now)
    }

    /// A certificate with its key, both in PEM; the authority's follows the server's.
    func issue(_ kind: Kind) throws(CryptoError) -> (chain: String, key: String) {
      var (issuer, issuerKey) = (authority, authorityKey)
      if kind == .untrusted { (issuer, issuerKey) = try Self.makeAuthority(now) }
      let key = try PrivateKey.generateP256()
      var template = CertificateTemplate(
        subject: DistinguishedName(organization: "ReceiptKit Test", commonName: "App Store Emulator"),
        notBefore: now - 10 * Self.day, notAfter: kind == .expired ? now - Self.day : now + 30 * Self.day)
      template.basicConstraints = .endEntity
      template.keyUsage = .digitalSignature
      template.extendedKeyUsages = [Self.serverAuthentication]
      let names = kind == .wrongHost ? Self.otherNames : Self.localNames
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

    /// `GeneralName`s in DER (RFC 5280 section 4.2.1.6): dNSName is [2], iPAddress is [7].
    private static let localNames: [[UInt8]] = [
      [0x82, 9] + Array("localhost".utf8), [0x87, 4, 127, 0, 0, 1],
      [0x87, 16] + [UInt8](repeating: 0, count: 15) + [1],
    ]
    private static let otherNames: [[UInt8]] = [[0x82, 17] + Array("other.example.com".utf8)]

    private static func subjectAlternativeName(_ names: [[UInt8]]) -> Certificate.Extension {
      let content = names.flatMap { $0 }
      return Certificate.Extension(
        oid: "2.5.29.17", isCritical: false, value: [0x30, UInt8(content.count)] + content)
    }
  }
#endif
