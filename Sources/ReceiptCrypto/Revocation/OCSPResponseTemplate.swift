// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// What a new OCSP response shall say, right or wrong: for tests and emulators of responders.
package struct OCSPResponseTemplate: Sendable {
  /// One answer.
  package struct Answer: Sendable {
    package var certificate: Certificate
    package var issuer: Certificate
    /// What the certificate is named by.
    package var hash: DigestAlgorithm = .sha1
    package var standing: CertificateStatus.Standing
    /// Seconds since 1970.
    package var thisUpdate: Int64
    /// Seconds since 1970; `nil` leaves it out.
    package var nextUpdate: Int64?

    package init(
      _ certificate: Certificate, issuer: Certificate, _ standing: CertificateStatus.Standing,
      thisUpdate: Int64, nextUpdate: Int64?
    ) {
      self.certificate = certificate
      self.issuer = issuer
      self.standing = standing
      self.thisUpdate = thisUpdate
      self.nextUpdate = nextUpdate
    }
  }

  package var answers: [Answer]
  /// Whom the response names as its signer.
  package var signer: Certificate
  package var key: PrivateKey
  /// Whether the signer's certificate is put into the response, as a delegate's must be.
  package var includesSigner = false
  package var digest: DigestAlgorithm = .sha256
  package var nonce: [UInt8]?

  package init(_ answers: [Answer], signer: Certificate, key: PrivateKey) {
    self.answers = answers
    self.signer = signer
    self.key = key
  }

  /// The response in DER.
  package func sign() throws(OCSPError) -> [UInt8] {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let basic = unsafe OCSP_BASICRESP_new() else { throw .outOfMemory }
    defer { unsafe OCSP_BASICRESP_free(basic) }
    for answer in answers { try unsafe Self.add(answer, to: basic) }
    if var nonce, unsafe OCSP_basic_add1_nonce(basic, &nonce, Int32(clamping: nonce.count)) != 1 {
      throw .outOfMemory
    }
    let signed = unsafe OCSP_basic_sign(
      basic, signer.backing.certificate, key.backing.key, digest.implementation, nil,
      includesSigner ? 0 : UInt(OCSP_NOCERTS))
    guard signed == 1 else {
      throw OCSPError(.internalFailure, "OpenSSL could not sign: \(ErrorQueue.drain())")
    }
    return try unsafe Self.encoded(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
  }

  /// A response that says why there is no answer. ``OCSPError/Code/malformedResponse`` and others that no
  /// responder can say become `internalError`.
  package static func refusal(_ code: OCSPError.Code) throws(OCSPError) -> [UInt8] {
    let status =
      switch code {
      case .malformedRequest: OCSP_RESPONSE_STATUS_MALFORMEDREQUEST
      case .tryLater: OCSP_RESPONSE_STATUS_TRYLATER
      case .signatureRequired: OCSP_RESPONSE_STATUS_SIGREQUIRED
      case .unauthorized: OCSP_RESPONSE_STATUS_UNAUTHORIZED
      default: OCSP_RESPONSE_STATUS_INTERNALERROR
      }
    return try unsafe encoded(OCSP_response_create(status, nil))
  }

  private static func encoded(_ response: OpaquePointer?) throws(OCSPError) -> [UInt8] {
    guard let response = unsafe response else { throw .outOfMemory }
    defer { unsafe OCSP_RESPONSE_free(response) }
    guard let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_OCSP_RESPONSE(response, $0) }) else {
      throw .outOfMemory
    }
    return der
  }

  private static func add(_ answer: Answer, to basic: OpaquePointer) throws(OCSPError) {
    guard let identifier = unsafe OCSPIdentifier.make(answer.certificate, answer.issuer, answer.hash) else {
      throw .outOfMemory
    }
    defer { unsafe OCSP_CERTID_free(identifier) }
    var reasonNumber: Int32 = -1
    var revocationTime: Int64 = 0
    let status: Int32
    switch answer.standing {
    case .good: status = V_OCSP_CERTSTATUS_GOOD
    case .unknown: status = V_OCSP_CERTSTATUS_UNKNOWN
    case .revoked(let instant, let reason):
      status = V_OCSP_CERTSTATUS_REVOKED
      revocationTime = instant
      reasonNumber = reason.map { Int32(clamping: $0.rawValue) } ?? -1
    }
    let revokedAt = unsafe ASN1_GENERALIZEDTIME_set(nil, time_t(revocationTime))
    defer { unsafe ASN1_GENERALIZEDTIME_free(revokedAt) }
    let thisUpdate = unsafe ASN1_GENERALIZEDTIME_set(nil, time_t(answer.thisUpdate))
    defer { unsafe ASN1_GENERALIZEDTIME_free(thisUpdate) }
    let nextUpdate = unsafe answer.nextUpdate.flatMap { unsafe ASN1_GENERALIZEDTIME_set(nil, time_t($0)) }
    defer { unsafe ASN1_GENERALIZEDTIME_free(nextUpdate) }
    let added = unsafe OCSP_basic_add1_status(
      basic, identifier, status, reasonNumber, revokedAt, thisUpdate, nextUpdate)
    guard unsafe added != nil else { throw .outOfMemory }
  }
}
