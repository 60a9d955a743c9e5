// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
