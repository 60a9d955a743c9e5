// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns a BasicOCSPResponse during a call, and checks its parts.
@safe
final class OCSPBasicResponse {
  let basic: OpaquePointer

  init(takingOwnership basic: OpaquePointer) { unsafe self.basic = basic }

  deinit { unsafe OCSP_BASICRESP_free(basic) }

  /// Throws if the response has a critical extension other than the nonce, the only one that is defined.
  func demandKnownExtensions() throws(OCSPError) {
    let count = unsafe OCSP_BASICRESP_get_ext_count(basic)
    try Self.require(
      noUnknown: unsafe OpenSSLObject.unknownCriticalExtension(among: count, other: NID_id_pkix_OCSP_Nonce) {
        unsafe OCSP_BASICRESP_get_ext(basic, $0)
      })
  }

  func requireNonce(_ nonce: [UInt8]?, requiresNonce: Bool) throws(OCSPError) {
    guard let nonce else { return }
    var index = unsafe OCSP_BASICRESP_get_ext_by_NID(basic, NID_id_pkix_OCSP_Nonce, -1)
    guard index >= 0 || !requiresNonce else {
      throw OCSPError(.nonceMissing, "The response does not repeat the request's nonce.")
    }
    while index >= 0 {
      let found = unsafe OCSP_BASICRESP_get_ext(basic, index)
      guard let found = unsafe found, unsafe OCSPNonce.value(of: found) == nonce else {
        throw OCSPError(.nonceMismatch, "The response has the nonce of another request.")
      }
      index = unsafe OCSP_BASICRESP_get_ext_by_NID(basic, NID_id_pkix_OCSP_Nonce, index)
    }
  }

  /// Returns the only status in the response for exactly this certificate, if it is current.
  func status(
    of certificate: Certificate, issuer: Certificate, at now: Int64
  ) throws(OCSPError) -> CertificateStatus {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let count = max(0, unsafe OCSP_resp_count(basic))
    // Each answer needs some hashing, and a responder answers only for the requested certificates or a few of one
    // issuer.
    guard count <= 64 else {
      throw OCSPError(.malformedResponse, "The response answers for \(count) certificates; 64 are looked at.")
    }
    var matches: [Int32] = []
    for index in 0..<count {
      guard let single = unsafe OCSP_resp_get0(basic, index),
        let identifier = unsafe OCSP_SINGLERESP_get0_id(single),
        unsafe OCSPIdentifier.matches(identifier, certificate, issuer)
      else { continue }
      matches.append(index)
    }
    guard let index = matches.first, matches.count == 1, let single = unsafe OCSP_resp_get0(basic, index)
    else {
      throw OCSPError(
        .otherCertificate, "The response has \(matches.count) answers about \(certificate); it must have one."
      )
    }
    let extensionCount = unsafe OCSP_SINGLERESP_get_ext_count(single)
    try Self.require(
      noUnknown: unsafe OpenSSLObject.unknownCriticalExtension(among: extensionCount) {
        unsafe OCSP_SINGLERESP_get_ext(single, $0)
      })
    return try unsafe Self.status(of: single, at: now)
  }

  private static func status(
    of single: OpaquePointer, at now: Int64
  ) throws(OCSPError) -> CertificateStatus {
    var times = COpenSSL_OCSP_times()
    let found = unsafe COpenSSL_OCSP_single_get0_status(single, &times)
    guard times.has_this_update == 1, times.has_next_update == times.states_next_update,
      times.states_next_update == 0 || times.next_update >= times.this_update
    else {
      throw OCSPError(.malformedResponse, "thisUpdate and nextUpdate are not two times in order.")
    }
    guard times.this_update - OCSPResponse.allowedClockSkew <= now else {
      throw OCSPError(.notYetValid, "The response is from the future; is the clock right?")
    }
    let nextUpdate = times.states_next_update == 1 ? times.next_update : nil
    guard now <= nextUpdate ?? (times.this_update + OCSPResponse.maximumAgeWithoutNextUpdate) else {
      throw OCSPError(.stale, "The response is out of date: there must be a newer one.")
    }
    let standing: CertificateStatus.Standing
    switch found {
    case V_OCSP_CERTSTATUS_GOOD: standing = .good
    case V_OCSP_CERTSTATUS_UNKNOWN: standing = .unknown
    case V_OCSP_CERTSTATUS_REVOKED:
      guard times.is_revoked_known == 1 else {
        throw OCSPError(.malformedResponse, "The certificate is revoked at what is not a time.")
      }
      standing = .revoked(
        at: times.revoked, reason: times.reason < 0 ? nil : CRLReason(rawValue: Int(times.reason)))
    default: throw OCSPError(.malformedResponse, "The response states no status.")
    }
    return CertificateStatus(standing, thisUpdate: times.this_update, nextUpdate: nextUpdate)
  }

  private static func require(noUnknown oid: String?) throws(OCSPError) {
    guard let oid else { return }
    throw OCSPError(
      .unsupportedExtension, "The response has the critical extension \(oid), which is not known here.")
  }
}
