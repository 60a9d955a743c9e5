// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// Prints the certificates of an identity.
struct IdentityReport {
  let directory: String
  let chain: [Certificate]
  /// The public key, which is shown if the identity has no certificates.
  let publicKey: PublicKey?

  func write(json: Bool) throws { try writeAll(json ? jsonLine() : Array(text().utf8)) }

  private func text() -> String {
    var lines = ["identity  \(directory)"]
    for (certificate, part) in zip(chain, ["signer", "intermediate", "root"]) {
      lines.append("  \(part)")
      lines.append("    subject  \(certificate.subject)")
      lines.append("    key      \(certificate.publicKey.kind.name)")
      lines.append("    valid    \(Self.date(certificate.notBefore)) to \(Self.date(certificate.notAfter))")
      lines.append("    sha256   \(certificate.sha256FingerprintHex)")
    }
    if chain.isEmpty, let publicKey {
      lines.append("  key of an app, without certificates")
      lines.append("    key      \(publicKey.kind.name)")
      lines.append("    sha256   \(publicKey.sha256FingerprintHex)")
    }
    return lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n"
  }

  private func jsonLine() -> [UInt8] {
    let certificates = chain.map {
      Output.Certificate(
        subject: $0.subject, issuer: $0.issuer, key: $0.publicKey.kind.name,
        notBefore: Timestamp(secondsSince1970: $0.notBefore),
        notAfter: Timestamp(secondsSince1970: $0.notAfter), sha256: $0.sha256FingerprintHex)
    }
    let key = chain.isEmpty ? publicKey : nil
    return Output.Identity(
      directory: directory, certificates: certificates, key: key?.kind.name,
      sha256: key?.sha256FingerprintHex,
      publicKey: key.map { Base64.encodeToString($0.subjectPublicKeyInfo) }
    ).line()
  }

  private static func date(_ seconds: Int64) -> String {
    Timestamp(secondsSince1970: seconds).iso8601Seconds
  }
}
