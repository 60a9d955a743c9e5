// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// What a new revocation list shall say, right or wrong: for tests and emulators of issuers.
package struct RevocationListTemplate: Sendable {
  /// One revoked certificate.
  package struct Entry: Sendable {
    package var certificate: Certificate
    /// Seconds since 1970.
    package var revokedAt: Int64
    package var reason: CRLReason?

    package init(_ certificate: Certificate, revokedAt: Int64, reason: CRLReason? = nil) {
      self.certificate = certificate
      self.revokedAt = revokedAt
      self.reason = reason
    }
  }

  package var entries: [Entry] = []
  /// Seconds since 1970.
  package var thisUpdate: Int64
  /// Seconds since 1970; `nil` leaves it out.
  package var nextUpdate: Int64?
  package var digest: DigestAlgorithm = .sha256
  /// Extensions of the list, encoded by the caller.
  package var extensions: [Certificate.Extension] = []
  /// Extensions of every entry, encoded by the caller.
  package var entryExtensions: [Certificate.Extension] = []

  package init(thisUpdate: Int64, nextUpdate: Int64?) {
    self.thisUpdate = thisUpdate
    self.nextUpdate = nextUpdate
  }

  /// The list in DER, under the issuer's name.
  package func sign(issuer: Certificate, key: PrivateKey) throws(RevocationListError) -> [UInt8] {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let list = unsafe X509_CRL_new() else { throw Self.failure }
    defer { unsafe X509_CRL_free(list) }
    let start = unsafe ASN1_TIME_set(nil, time_t(thisUpdate))
    defer { unsafe ASN1_TIME_free(start) }
    let end = unsafe nextUpdate.flatMap { unsafe ASN1_TIME_set(nil, time_t($0)) }
    defer { unsafe ASN1_TIME_free(end) }
    guard unsafe X509_CRL_set_version(list, 1) == 1,
      unsafe X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.backing.certificate)) == 1,
      unsafe X509_CRL_set1_lastUpdate(list, start) == 1,
      unsafe end == nil || X509_CRL_set1_nextUpdate(list, end) == 1
    else { throw Self.failure }
    for entry in entries { try unsafe add(entry, to: list) }
    for other in extensions {
      let added = unsafe Self.withExtension(other) { unsafe X509_CRL_add_ext(list, $0, -1) == 1 }
      guard added == true else { throw Self.failure }
    }
    guard unsafe X509_CRL_sort(list) == 1,
      unsafe X509_CRL_sign(list, key.backing.key, digest.implementation) > 0,
      let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_X509_CRL(list, $0) })
    else { throw Self.failure }
    return der
  }

  private func add(_ entry: Entry, to list: OpaquePointer) throws(RevocationListError) {
    guard let revoked = unsafe X509_REVOKED_new() else { throw Self.failure }
    let instant = unsafe ASN1_TIME_set(nil, time_t(entry.revokedAt))
    defer { unsafe ASN1_TIME_free(instant) }
    let serialNumber = unsafe X509_get_serialNumber(entry.certificate.backing.certificate)
    var isComplete =
      unsafe X509_REVOKED_set_serialNumber(revoked, serialNumber) == 1
      && X509_REVOKED_set_revocationDate(revoked, instant) == 1
    var extensions = entryExtensions
    if let reason = entry.reason {
      // CRLReason ::= ENUMERATED
      extensions.append(
        Certificate.Extension(
          oid: "2.5.29.21", isCritical: false,
          value: ASN1Writer.encoding { $0.write(.enumerated, contents: [UInt8(clamping: reason.rawValue)]) }))
    }
    for other in extensions {
      let added = unsafe Self.withExtension(other) { unsafe X509_REVOKED_add_ext(revoked, $0, -1) == 1 }
      isComplete = isComplete && added == true
    }
    guard isComplete, unsafe X509_CRL_add0_revoked(list, revoked) == 1 else {
      unsafe X509_REVOKED_free(revoked)
      throw Self.failure
    }
  }

  private static func withExtension(
    _ template: Certificate.Extension, _ body: (OpaquePointer?) -> Bool
  ) -> Bool? {
    unsafe OpenSSLObject.withObject(template.oid) { object -> Bool? in
      guard let data = unsafe ASN1_OCTET_STRING_new() else { return nil }
      defer { unsafe ASN1_OCTET_STRING_free(data) }
      let value = template.value
      guard unsafe ASN1_OCTET_STRING_set(data, value, Int32(clamping: value.count)) == 1 else { return nil }
      let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, template.isCritical ? 1 : 0, data)
      defer { unsafe X509_EXTENSION_free(made) }
      return unsafe body(made)
    }
  }

  private static var failure: RevocationListError {
    RevocationListError(.internalFailure, "OpenSSL could not make the list: \(ErrorQueue.drain())")
  }
}
