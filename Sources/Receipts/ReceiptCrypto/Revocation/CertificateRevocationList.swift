// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// An issuer's list of its revoked certificates (RFC 5280 section 5). A list is not trusted by itself:
/// ``status(of:issuer:at:)`` checks its signer and its dates.
package struct CertificateRevocationList: Sendable {
  /// The maximum size of a list, in bytes. Apple's lists for certificate authorities have less than a thousand.
  package static let maximumByteCount = 4 << 20

  package let der: [UInt8]

  private let backing: RevocationListBacking

  /// Decodes a list. A list may cover all certificates, only certificate authorities, or only other certificates, and
  /// must cover all reasons. Indirect lists (of several issuers), delta lists and lists of only some reasons are
  /// rejected.
  ///
  /// - Throws: ``RevocationListError`` with `malformed-list`, `too-large`, `unsupported-extension`, `unsupported-list`
  ///   or `internal-failure`.
  package init(der: [UInt8]) throws(RevocationListError) {
    guard der.count <= Self.maximumByteCount else {
      throw RevocationListError(.tooLarge, "The list has more than \(Self.maximumByteCount) bytes.")
    }
    self.der = der
    backing = try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(RevocationListError) in
      try RevocationListBacking(der: der)
    }
  }

  /// The time at which the list was issued, in seconds since 1970.
  package var thisUpdate: Int64 { backing.thisUpdate }

  /// The latest time at which the next list will be issued, in seconds since 1970; `nil` if it is not stated.
  package var nextUpdate: Int64? { backing.nextUpdate }

  /// Returns the status of a certificate according to the list.
  ///
  /// - Parameters:
  ///   - certificate: The certificate whose status is requested.
  ///   - issuer: The certificate of its issuer, which the caller trusts and which must have signed the list.
  ///   - now: The time, in seconds since 1970. thisUpdate may be up to five minutes later. The list must state
  ///     nextUpdate (RFC 5280 section 5.1.2.5), which must not be past.
  /// - Returns: The status, which is good or revoked: a list has no other.
  /// - Throws: ``RevocationListError``.
  package func status(
    of certificate: Certificate, issuer: Certificate, at now: Int64
  ) throws(RevocationListError) -> CertificateStatus {
    try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(RevocationListError) in
      try backing.demandSignature(by: issuer)
      try backing.demandScope(over: certificate, of: issuer)
    }
    guard backing.thisUpdate - OCSPResponse.allowedClockSkew <= now else {
      throw RevocationListError(.notYetValid, "The list is from the future; is the clock right?")
    }
    guard let nextUpdate = backing.nextUpdate, now <= nextUpdate else {
      throw RevocationListError(.stale, "The list is out of date: there must be a newer one.")
    }
    let standing = try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(RevocationListError) in
      try backing.standing(of: certificate)
    }
    return CertificateStatus(standing, thisUpdate: backing.thisUpdate, nextUpdate: nextUpdate)
  }
}

extension CertificateRevocationList {
  /// Reads a list in DER, or the only one in a PEM text (`X509 CRL`).
  ///
  /// - Throws: ``CryptoError`` with `malformedPEM` or `malformedList`.
  package init(inFile contents: [UInt8]) throws(CryptoError) {
    var der = contents
    if ByteSearch.contains("-----BEGIN", in: contents.span) {
      let blocks = try PEMBlock.blocks(in: contents).filter { $0.label == "X509 CRL" }
      guard blocks.count == 1 else {
        throw CryptoError(
          .malformedPEM, "Expected one \"X509 CRL\" block in this PEM text, found \(blocks.count).")
      }
      der = blocks[0].bytes
    }
    do throws(RevocationListError) {
      try self.init(der: der)
    } catch {
      throw CryptoError(error.code == .internalFailure ? .internalFailure : .malformedList, error.message)
    }
  }
}
