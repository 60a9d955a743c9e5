// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns an OpenSSL revocation list, which is freed with the last reference.
@safe
final class RevocationListBacking {
  private let list: OpaquePointer
  let thisUpdate: Int64
  let nextUpdate: Int64?
  private let scope: RevocationListScope

  init(der: [UInt8]) throws(RevocationListError) {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe X509_CRL_free($0) }) {
      unsafe d2i_X509_CRL(nil, $0, $1)
    }
    guard let list = unsafe decoded else {
      throw RevocationListError(.malformedList, "This is not one certificate revocation list in DER.")
    }
    do throws(RevocationListError) {
      let thisUpdate = try unsafe Self.seconds(
        X509_CRL_get0_lastUpdate(list).map { unsafe UnsafeRawPointer($0) })
      let nextUpdate =
        unsafe X509_CRL_get0_nextUpdate(list) == nil
        ? nil : try unsafe Self.seconds(X509_CRL_get0_nextUpdate(list).map { unsafe UnsafeRawPointer($0) })
      guard nextUpdate ?? thisUpdate >= thisUpdate else {
        throw RevocationListError(.malformedList, "nextUpdate is before thisUpdate.")
      }
      let scope = try unsafe RevocationListScope(of: list)
      try unsafe Self.demandKnownExtensions(of: list)
      self.thisUpdate = thisUpdate
      self.nextUpdate = nextUpdate
      self.scope = scope
    } catch {
      unsafe X509_CRL_free(list)
      throw error
    }
    unsafe self.list = list
  }

  deinit { unsafe X509_CRL_free(list) }

  func demandSignature(by issuer: Certificate) throws(RevocationListError) {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard
      unsafe X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(issuer.backing.certificate)) == 0
    else {
      throw RevocationListError(.otherIssuer, "The list is not of the issuer \"\(issuer.subject)\".")
    }
    guard issuer.keyUsage?.contains(.cRLSign) ?? true else {
      throw RevocationListError(.otherIssuer, "The issuer's certificate does not allow it to sign lists.")
    }
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_CRL_get0_signature(list, nil, &algorithm)
    let oid = unsafe OpenSSLObject.dotted(algorithm: algorithm)
    guard RevocationSignature.acceptsInList(oid: oid) else {
      throw RevocationListError(
        .badSignature, "The list is signed with the algorithm \(oid), which is not accepted.")
    }
    guard let key = issuer.publicKey.backing, key.isSupported else {
      throw RevocationListError(.badSignature, "The issuer's key is not of a kind that is used here.")
    }
    let isMatch: Bool
    do throws(CryptoError) { isMatch = try Libcrypto.matches { unsafe X509_CRL_verify(list, key.key) } } catch
    {
      throw RevocationListError(.internalFailure, error.message)
    }
    guard isMatch else {
      throw RevocationListError(.badSignature, "The issuer's signature does not match the list.")
    }
  }

  func demandScope(over certificate: Certificate, of issuer: Certificate) throws(RevocationListError) {
    guard certificate.issuerDER == issuer.subjectDER, scope.covers(certificate) else {
      throw RevocationListError(.otherScope, "The list does not cover \(certificate).")
    }
  }

  func standing(of certificate: Certificate) throws(RevocationListError) -> CertificateStatus.Standing {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    var entry: OpaquePointer?
    // OpenSSL sorts the list at the first lookup, under the list's own lock.
    let found = unsafe X509_CRL_get0_by_cert(list, &entry, certificate.backing.certificate)
    guard found == 1, let entry = unsafe entry else { return .good }
    let instant = unsafe X509_REVOKED_get0_revocationDate(entry).map { unsafe UnsafeRawPointer($0) }
    var reason: CRLReason?
    if let encoded = unsafe X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) {
      let number = unsafe COpenSSL_ASN1_ENUMERATED_get(encoded)
      unsafe COpenSSL_ASN1_ENUMERATED_free(encoded)
      reason = CRLReason(rawValue: number)
    }
    return .revoked(at: try unsafe Self.seconds(instant), reason: reason)
  }

  private static func seconds(_ time: UnsafeRawPointer?) throws(RevocationListError) -> Int64 {
    guard let seconds = unsafe OpenSSLBytes.seconds(of: time) else {
      throw RevocationListError(.malformedList, "The list contains an invalid time.")
    }
    return seconds
  }

  /// Throws if the list or an entry has a critical extension other than the list's scope. An entry of another issuer,
  /// for example, has a critical extension that names the issuer.
  private static func demandKnownExtensions(of list: OpaquePointer) throws(RevocationListError) {
    let count = unsafe X509_CRL_get_ext_count(list)
    try require(
      noUnknown: unsafe OpenSSLObject.unknownCriticalExtension(
        among: count, other: NID_issuing_distribution_point, { unsafe X509_CRL_get_ext(list, $0) }))
    let entries = unsafe X509_CRL_get_REVOKED(list)
    for number in 0..<max(0, unsafe OPENSSL_sk_num(entries)) {
      guard let entry = unsafe OPENSSL_sk_value(entries, number).map({ OpaquePointer($0) }) else { continue }
      let count = unsafe X509_REVOKED_get_ext_count(entry)
      try require(
        noUnknown: unsafe OpenSSLObject.unknownCriticalExtension(among: count) {
          unsafe X509_REVOKED_get_ext(entry, $0)
        })
    }
  }

  private static func require(noUnknown oid: String?) throws(RevocationListError) {
    guard let oid else { return }
    throw RevocationListError(
      .unsupportedExtension, "The list has the critical extension \(oid), which is not known here.")
  }
}

// The list does not change after initialization, except for the order of its entries. OpenSSL sorts them once, under
// the list's lock.
extension RevocationListBacking: @unchecked Sendable {}

/// The certificates that a list covers, from its issuingDistributionPoint extension (RFC 5280 section 5.2.5).
struct RevocationListScope: Sendable {
  private var isOfAuthoritiesAlone = false
  private var isOfOthersAlone = false
  /// The URLs at which the list is published; `nil` if they are not stated, and the list covers all certificates.
  private var urls: [String]?

  init(of list: OpaquePointer) throws(RevocationListError) {
    guard unsafe X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) < 0 else {
      throw RevocationListError(.unsupportedList, "This is a delta list, which is of no use alone.")
    }
    guard unsafe X509_CRL_get_ext_by_NID(list, NID_issuing_distribution_point, -1) >= 0 else { return }
    let decoded = unsafe X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, nil, nil)
    guard let decoded = unsafe decoded else {
      throw RevocationListError(.malformedList, "The list's scope cannot be decoded, or occurs twice.")
    }
    let point = unsafe decoded.assumingMemoryBound(to: ISSUING_DIST_POINT.self)
    defer { unsafe ISSUING_DIST_POINT_free(point) }
    guard unsafe point.pointee.indirectCRL <= 0, unsafe point.pointee.onlysomereasons == nil,
      unsafe point.pointee.onlyattr <= 0
    else {
      throw RevocationListError(
        .unsupportedList, "This is a list of several issuers, of some reasons, or of attribute certificates.")
    }
    isOfAuthoritiesAlone = unsafe point.pointee.onlyCA > 0
    isOfOthersAlone = unsafe point.pointee.onlyuser > 0
    if let name = unsafe point.pointee.distpoint {
      // 0 is fullName; 1 is a name relative to the issuer.
      guard unsafe name.pointee.type == 0, let names = unsafe name.pointee.name.fullname else {
        throw RevocationListError(.unsupportedList, "The list is published under a relative name.")
      }
      urls = unsafe Certificate.urls(in: names)
    }
  }

  /// Returns `true` if the list covers the certificate. If the list states its URLs, it covers only certificates whose
  /// distribution points include one of them.
  func covers(_ certificate: Certificate) -> Bool {
    if isOfAuthoritiesAlone && !certificate.isCertificateAuthority { return false }
    if isOfOthersAlone && certificate.isCertificateAuthority { return false }
    guard let urls else { return true }
    return certificate.crlURLs.contains { urls.contains($0) }
  }
}
