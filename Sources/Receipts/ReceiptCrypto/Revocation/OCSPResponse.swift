// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A responder's answer (RFC 6960 section 4.2). A response is not trusted by itself:
/// ``status(of:issuer:nonce:requiresNonce:at:)`` checks its signer, its dates and its certificate.
package struct OCSPResponse: Sendable {
  /// The maximum size of a response, in bytes; genuine responses have one to four thousand.
  package static let maximumByteCount = 1 << 16
  /// The number of seconds by which a responder's clock may be ahead.
  package static let allowedClockSkew: Int64 = 300
  /// The maximum age of a response without nextUpdate, in seconds; RFC 6960 does not define one.
  package static let maximumAgeWithoutNextUpdate: Int64 = 86_400

  package let der: [UInt8]

  /// Decodes a response.
  ///
  /// - Throws: ``OCSPError`` with `malformed-response`, `too-large` or `internal-failure`, or with the responder's own
  ///   error: `malformed-request`, `internal-error`, `try-later`, `signature-required`, `unauthorized` or
  ///   `unknown-response-status`.
  package init(der: [UInt8]) throws(OCSPError) {
    guard der.count <= Self.maximumByteCount else {
      throw OCSPError(.tooLarge, "The response has more than \(Self.maximumByteCount) bytes.")
    }
    self.der = der
    try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(OCSPError) in
      try OCSPResponseBacking(der: der).demandSuccess()
    }
  }

  /// Returns the status of a certificate according to the response. The signer must be the issuer, or a responder whose
  /// certificate the issuer itself issued, with the extended key usage OCSPSigning; that certificate must be valid now.
  /// No other signer is accepted, whatever its chain (RFC 6960 section 4.2.2.2).
  ///
  /// - Parameters:
  ///   - certificate: The certificate whose status is requested.
  ///   - issuer: The certificate of its issuer, which the caller trusts.
  ///   - nonce: The request's nonce. A response with another nonce is rejected.
  ///   - requiresNonce: `true` to reject a response without a nonce too. Responders that sign responses in advance,
  ///     such as Apple's, omit it.
  ///   - now: The time, in seconds since 1970. thisUpdate may be up to five minutes later.
  /// - Returns: The status that the signer states, which may be good or not.
  /// - Throws: ``OCSPError``.
  package func status(
    of certificate: Certificate, issuer: Certificate, nonce: [UInt8]? = nil, requiresNonce: Bool = false,
    at now: Int64
  ) throws(OCSPError) -> CertificateStatus {
    try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(OCSPError) in
      let response = try OCSPResponseBacking(der: der)
      try response.demandSuccess()
      let basic = try response.basicResponse()
      try basic.demandSignature(issuer: issuer, at: now)
      try basic.demandKnownExtensions()
      try basic.requireNonce(nonce, requiresNonce: requiresNonce)
      return try basic.status(of: certificate, issuer: issuer, at: now)
    }
  }
}

/// Owns a decoded response during a call.
@safe
final class OCSPResponseBacking {
  private let response: OpaquePointer

  init(der: [UInt8]) throws(OCSPError) {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe OCSP_RESPONSE_free($0) }) {
      unsafe d2i_OCSP_RESPONSE(nil, $0, $1)
    }
    guard let response = unsafe decoded else {
      throw OCSPError(.malformedResponse, "This is not an OCSP response in DER.")
    }
    unsafe self.response = response
  }

  deinit { unsafe OCSP_RESPONSE_free(response) }

  func demandSuccess() throws(OCSPError) {
    switch unsafe OCSP_response_status(response) {
    case OCSP_RESPONSE_STATUS_SUCCESSFUL: return
    case OCSP_RESPONSE_STATUS_MALFORMEDREQUEST:
      throw OCSPError(.malformedRequest, "The responder could not read the request.")
    case OCSP_RESPONSE_STATUS_INTERNALERROR:
      throw OCSPError(.internalError, "The responder failed; ask again later.")
    case OCSP_RESPONSE_STATUS_TRYLATER:
      throw OCSPError(.tryLater, "The responder is busy; ask again later.")
    case OCSP_RESPONSE_STATUS_SIGREQUIRED:
      throw OCSPError(.signatureRequired, "The responder answers signed requests alone.")
    case OCSP_RESPONSE_STATUS_UNAUTHORIZED:
      throw OCSPError(.unauthorized, "The responder does not answer for this certificate, or not us.")
    case let status:
      throw OCSPError(.unknownResponseStatus, "The responder answers with the unknown status \(status).")
    }
  }

  func basicResponse() throws(OCSPError) -> OCSPBasicResponse {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let basic = unsafe OCSP_response_get1_basic(response) else {
      throw OCSPError(.malformedResponse, "The response holds no basic response (RFC 6960 section 4.2.1).")
    }
    return unsafe OCSPBasicResponse(takingOwnership: basic)
  }
}
