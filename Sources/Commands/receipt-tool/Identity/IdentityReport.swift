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
    var object = JSONWriter(.identity)
    object.member("directory", directory)
    object.name("certificates")
    object.beginArray()
    for certificate in chain {
      object.beginObject()
      object.member("subject", certificate.subject)
      object.member("issuer", certificate.issuer)
      object.member("key", certificate.publicKey.kind.name)
      object.member("notBefore", Timestamp(secondsSince1970: certificate.notBefore))
      object.member("notAfter", Timestamp(secondsSince1970: certificate.notAfter))
      object.member("sha256", certificate.sha256FingerprintHex)
      object.endObject()
    }
    object.endArray()
    if chain.isEmpty, let publicKey {
      object.member("key", publicKey.kind.name)
      object.member("sha256", publicKey.sha256FingerprintHex)
      object.member("publicKey", Base64.encodeToString(publicKey.subjectPublicKeyInfo))
    }
    return object.line()
  }

  private static func date(_ seconds: Int64) -> String {
    Timestamp(secondsSince1970: seconds).iso8601Seconds
  }
}
