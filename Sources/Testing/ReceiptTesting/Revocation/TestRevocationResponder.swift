// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto
package import ReceiptSigning

/// The issuer's side of revocation, for tests. It answers OCSP requests about the certificates of a test identity, and
/// creates revocation lists, correct or with a flaw.
///
/// ```swift
/// let authority = try TestAuthority.es256()
/// let identity = try authority.identity(ocspURL: "http://ocsp.example.com")
/// var responder = TestRevocationResponder(authority, chain: identity.chain)
/// responder.revoke(identity.chain[0], at: now, reason: .keyCompromise)
/// let response = try responder.response(to: requestBody, at: now)
/// ```
package struct TestRevocationResponder: Sendable {
  /// The signer of responses; initially the issuer.
  package var signer: Signer = .issuer
  package var flaw: Flaw?
  /// `true` if responses repeat the nonce; initially `true`.
  package var repeatsNonce = true
  /// The seconds from `thisUpdate`, which is now, to `nextUpdate`; `nil` omits `nextUpdate`. Initially one hour.
  package var lifetime: Int64? = 3600

  private let keys: TestAuthority.Keys
  private let chain: [Certificate]
  private var standings: [Certificate: CertificateStatus.Standing] = [:]

  /// Creates a responder for the certificates of an identity. Their status is good.
  package init(_ authority: TestAuthority, chain: [Certificate]) {
    self.keys = authority.keys
    self.chain = chain
  }

  package mutating func revoke(_ certificate: Certificate, at instant: Timestamp, reason: CRLReason?) {
    standings[certificate] = .revoked(at: instant.wholeSecondsSince1970 ?? 0, reason: reason)
  }

  /// Sets the status of a certificate to unknown.
  package mutating func forget(_ certificate: Certificate) { standings[certificate] = .unknown }

  /// Answers an OCSP request about one or more certificates of the chain, repeating the CertIDs of the request. The
  /// issuer of the first known certificate signs. Any other certificate has the status unknown.
  ///
  /// - Throws: `OCSPError` with `malformed-request` if the body is not an OCSP request.
  package func response(to request: [UInt8], at now: Timestamp) throws(OCSPError) -> [UInt8] {
    let request = try ReceivedOCSPRequest(der: request)
    guard let issuer = request.identifiers.lazy.compactMap({ known($0)?.issuer }).first else {
      return OCSPResponseTemplate.refusal(.unauthorized)
    }
    do throws(CryptoError) {
      return try response(to: request, by: issuer, now: now.wholeSecondsSince1970 ?? 0)
    } catch {
      throw OCSPError(.internalFailure, error.message)
    }
  }

  private func known(_ identifier: [UInt8]) -> (certificate: Certificate, issuer: Certificate)? {
    zip(chain, chain.dropFirst()).first {
      ReceivedOCSPRequest.identifier(identifier, names: $0, issuer: $1)
    }
  }

  /// The revocation list of one issuer in the chain.
  package func list(of issuer: Certificate, at now: Timestamp) throws(RevocationListError) -> [UInt8] {
    let now = now.wholeSecondsSince1970 ?? 0
    var template = RevocationListTemplate(thisUpdate: now, nextUpdate: lifetime.map { now + $0 })
    template.extensions = [.authorityKeyIdentifier(of: issuer), .crlNumber(now)].compactMap(\.self)
    if flaw == .stale { (template.thisUpdate, template.nextUpdate) = (now - 7200, now - 3600) }
    if flaw == .fromTheFuture { (template.thisUpdate, template.nextUpdate) = (now + 86_400, now + 90_000) }
    if flaw == .weakSignature { template.digest = .sha1 }
    for (certificate, its) in zip(chain, chain.dropFirst()) where its == issuer {
      if case .revoked(let instant, let reason) = standings[certificate] {
        template.entries.append(.init(certificate, revokedAt: instant, reason: reason))
      }
    }
    do throws(CryptoError) {
      return try template.sign(issuer: issuer, key: flaw == .wrongSigner ? keys.foreign : key(of: issuer))
    } catch {
      throw RevocationListError(.internalFailure, error.message)
    }
  }

  private func response(
    to request: ReceivedOCSPRequest, by issuer: Certificate, now: Int64
  ) throws(CryptoError) -> [UInt8] {
    let answers = request.identifiers.map { answer(about: $0, now: now) }
    var template = OCSPResponseTemplate(answers, signer: issuer, key: key(of: issuer))
    template.namesKey = true
    template.nonce = repeatsNonce ? request.nonce : nil
    if signer == .delegate { try delegate(&template, by: issuer, key(of: issuer), isForOCSP: true) }
    switch flaw {
    case nil, .stale, .fromTheFuture, .otherCertificate: break
    case .wrongNonce: template.nonce = [UInt8](repeating: 0xAA, count: OCSPRequest.nonceByteCount)
    case .wrongSigner:
      template.signer = issuer
      template.key = keys.foreign
      template.includesSigner = false
    case .delegateWithoutUsage: try delegate(&template, by: issuer, key(of: issuer), isForOCSP: false)
    case .delegateOfAnother:
      let other = try issue(Self.template(of: issuer), by: .itself(keys.foreign))
      try delegate(&template, by: other, keys.foreign, isForOCSP: true)
    case .weakSignature: template.digest = .sha1
    }
    return try template.sign()
  }

  private func answer(about identifier: [UInt8], now: Int64) -> OCSPResponseTemplate.Answer {
    let known = known(identifier)
    let (certificate, issuer) = known ?? (chain[0], chain[0])
    let standing = known == nil ? .unknown : standings[certificate] ?? .good
    var answer = OCSPResponseTemplate.Answer(
      certificate, issuer: issuer, standing, thisUpdate: now, nextUpdate: lifetime.map { now + $0 })
    answer.identifier = identifier
    switch flaw {
    case .stale: (answer.thisUpdate, answer.nextUpdate) = (now - 7200, now - 3600)
    case .fromTheFuture: (answer.thisUpdate, answer.nextUpdate) = (now + 86_400, now + 90_000)
    case .otherCertificate:
      answer.identifier = nil
      answer.certificate = certificate == chain[0] ? issuer : chain[0]
    default: break
    }
    return answer
  }

  private func key(of issuer: Certificate) -> PrivateKey {
    issuer.publicKey == keys.root.publicKey ? keys.root : keys.intermediate
  }

  private func delegate(
    _ template: inout OCSPResponseTemplate, by issuer: Certificate, _ key: PrivateKey, isForOCSP: Bool
  ) throws(CryptoError) {
    var certificate = Self.template(named: "ReceiptKit Test Responder", of: issuer)
    certificate.keyUsage = .digitalSignature
    if isForOCSP { certificate.extendedKeyUsages = [ObjectIdentifiers.ocspSigning] }
    template.signer = try issue(certificate, by: .authority(issuer, key))
    template.key = keys.foreign
    template.includesSigner = true
  }

  /// Issues a certificate for the foreign key, which no test authority uses.
  private func issue(
    _ template: CertificateTemplate, by issuer: CertificateIssuer
  ) throws(CryptoError) -> Certificate {
    try Certificate.issue(template, for: keys.foreign.publicKey, by: issuer)
  }

  private static func template(named name: String? = nil, of issuer: Certificate) -> CertificateTemplate {
    var template = CertificateTemplate(
      subject: DistinguishedName(
        organization: issuer.subjectOrganization, commonName: name ?? issuer.subjectCommonName),
      notBefore: issuer.notBefore, notAfter: issuer.notAfter)
    template.basicConstraints = name == nil ? .certificateAuthority(pathLength: nil) : .endEntity
    return template
  }
}

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
