// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

extension RevocationListTemplate {
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
      revoked.write(.integer, contents: entry.serialNumber)
      revoked.write(time: entry.revokedAt)
      if !extensions.isEmpty { revoked.write(extensions) }
    }
  }
}

extension RevocationListTemplate.Entry {
  /// Creates an entry of a certificate.
  package init(_ certificate: Certificate, revokedAt: Int64, reason: CRLReason? = nil) {
    self.init(serialNumber: certificate.serialNumber, revokedAt: revokedAt, reason: reason)
  }
}
