// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An issuer's list of its revoked certificates (RFC 5280 section 5). Holding one says nothing:
/// ``status(of:issuer:at:)`` checks who signed it and when.
public struct CertificateRevocationList: Sendable {
  /// The longest list that is read, in bytes. Apple's lists of authorities have under a thousand.
  public static let maximumByteCount = 4 << 20

  /// The list as it was read.
  public let der: [UInt8]

  private let backing: RevocationListBacking

  /// Reads a list.
  ///
  /// Lists of all kinds of certificates and reasons are read, and such as cover authorities alone or others
  /// alone. Indirect lists (of several issuers), delta lists and lists of some reasons are refused.
  ///
  /// - Throws: ``RevocationListError`` with `malformed-list`, `too-large`, `unsupported-extension` or
  ///   `unsupported-list`.
  public init(der: [UInt8]) throws(RevocationListError) {
    guard der.count <= Self.maximumByteCount else {
      throw RevocationListError(.tooLarge, "The list has more than \(Self.maximumByteCount) bytes.")
    }
    self.der = der
    backing = try Libcrypto.confirmingRefusal(orThrow: .outOfMemory) { () throws(RevocationListError) in
      try RevocationListBacking(der: der)
    }
  }

  /// When the list was made, in seconds since 1970.
  public var thisUpdate: Int64 { backing.thisUpdate }

  /// When the next one is there at the latest, in seconds since 1970.
  public var nextUpdate: Int64? { backing.nextUpdate }

  /// Returns the status of a certificate according to the list.
  ///
  /// - Parameters:
  ///   - certificate: Whose status is wanted.
  ///   - issuer: The certificate of its issuer, which the caller trusts: it must have signed the list.
  ///   - now: The time, in seconds since 1970. thisUpdate may be up to five minutes later; a list must state
  ///     nextUpdate (RFC 5280 section 5.1.2.5), and that must not be past.
  /// - Returns: Good, or revoked: a list knows no other.
  /// - Throws: ``RevocationListError``.
  public func status(
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
