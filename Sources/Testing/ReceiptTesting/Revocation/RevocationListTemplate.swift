// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// The contents of a new revocation list, valid or not, for tests and emulated issuers (RFC 5280 section 5.1).
package struct RevocationListTemplate: Sendable {
  package struct Entry: Sendable {
    package var certificate: Certificate
    /// The date in seconds since 1970.
    package var revokedAt: Int64
    package var reason: CRLReason?

    package init(_ certificate: Certificate, revokedAt: Int64, reason: CRLReason? = nil) {
      self.certificate = certificate
      self.revokedAt = revokedAt
      self.reason = reason
    }
  }

  package var entries: [Entry] = []
  /// The time in seconds since 1970.
  package var thisUpdate: Int64
  /// The time in seconds since 1970; `nil` omits it.
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

  /// Signs the list in the issuer's name, and returns it in DER.
  package func sign(issuer: Certificate, key: PrivateKey) throws(CryptoError) -> [UInt8] {
    let list = ASN1Writer.encoding { writer in
      writer.write(.sequence) { list in
        list.write(integer: 1)
        list.write(signatureAlgorithmOf: key, digest)
        list.append(issuer.subjectDER)
        list.write(time: thisUpdate)
        if let nextUpdate { list.write(time: nextUpdate) }
        if !entries.isEmpty {
          list.write(.sequence) { revoked in for entry in entries { write(entry, to: &revoked) } }
        }
        if !extensions.isEmpty { list.write(.contextSpecificConstructed(0)) { $0.write(extensions) } }
      }
    }
    return try list.signed(by: key, digest)
  }

  private func write(_ entry: Entry, to list: inout ASN1Writer) {
    var extensions = entryExtensions
    if let reason = entry.reason {
      extensions.append(
        Certificate.Extension(
          oid: ObjectIdentifiers.reasonCode, isCritical: false,
          value: ASN1Writer.encoding { $0.write(reason) }))
    }
    list.write(.sequence) { revoked in
      revoked.write(.integer, contents: entry.certificate.serialNumber)
      revoked.write(time: entry.revokedAt)
      if !extensions.isEmpty { revoked.write(extensions) }
    }
  }
}
