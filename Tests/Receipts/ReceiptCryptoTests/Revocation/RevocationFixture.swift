// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

/// A chain, responders of every sort for it, and an hour in which what they say is of now.
struct RevocationFixture {
  static let now = TestChain.instant
  static let ocspSigning = "1.3.6.1.5.5.7.3.9"
  static let oneHour: Int64 = 3600

  let chain: TestChain
  let delegateKey: PrivateKey
  let nonce = [UInt8](repeating: 7, count: OCSPRequest.nonceByteCount)

  init(key: () throws -> PrivateKey = { try PrivateKey.generateP256() }) throws {
    chain = try TestChain(key: key)
    delegateKey = try key()
  }

  init(chain: TestChain) throws {
    self.chain = chain
    delegateKey = try PrivateKey.generateP256()
  }

  /// A responder that the leaf's issuer certified.
  func delegate(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
    try delegate(of: .authority(chain.intermediate, chain.intermediateKey), change)
  }

  func delegate(
    of issuer: CertificateIssuer, _ change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws -> Certificate {
    var template = TestChain.template("Test Responder")
    template.basicConstraints = .endEntity
    template.keyUsage = .digitalSignature
    template.extendedKeyUsages = [Self.ocspSigning]
    change(&template)
    return try Certificate.issue(template, for: delegateKey.publicKey, by: issuer)
  }

  /// A response about the leaf by its issuer.
  func template(_ standing: CertificateStatus.Standing = .good) -> OCSPResponseTemplate {
    var template = OCSPResponseTemplate(
      [answer(standing)], signer: chain.intermediate, key: chain.intermediateKey)
    template.nonce = nonce
    return template
  }

  func template(by delegate: Certificate) -> OCSPResponseTemplate {
    var template = template()
    template.signer = delegate
    template.key = delegateKey
    template.includesSigner = true
    return template
  }

  func answer(_ standing: CertificateStatus.Standing = .good) -> OCSPResponseTemplate.Answer {
    OCSPResponseTemplate.Answer(
      chain.leaf, issuer: chain.intermediate, standing, thisUpdate: Self.now - Self.oneHour,
      nextUpdate: Self.now + Self.oneHour)
  }

  func status(
    in der: [UInt8], nonce: [UInt8]? = nil, requiresNonce: Bool = false, at now: Int64 = Self.now
  ) throws(OCSPError) -> CertificateStatus {
    try OCSPResponse(der: der).status(
      of: chain.leaf, issuer: chain.intermediate, nonce: nonce ?? self.nonce, requiresNonce: requiresNonce,
      at: now)
  }

  /// The code with which a response is refused; `nil` where it is not.
  func refusal(of der: [UInt8], requiresNonce: Bool = false, at now: Int64 = Self.now) -> OCSPError.Code? {
    do throws(OCSPError) {
      _ = try status(in: der, requiresNonce: requiresNonce, at: now)
      return nil
    } catch {
      return error.code
    }
  }
}
