// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

extension Certificate {
  /// The contents in words; names are untrusted text, exactly as in the certificate.
  package var jsonValue: JSONValue {
    .members(
      ("subject", .string(subject)),
      ("issuer", .string(issuer)),
      ("serialNumber", .string(Hexadecimal.encode(serialNumber))),
      ("notBefore", .string(Timestamp(secondsSince1970: notBefore).iso8601)),
      ("notAfter", .string(Timestamp(secondsSince1970: notAfter).iso8601)),
      ("sha256", .string(sha256FingerprintHex)),
      ("key", .string(publicKey.kind.name)),
      ("signatureAlgorithm", .string(signatureAlgorithmOID)),
      ("extensions", .array(extensions.map(jsonValue))))
  }

  /// Returns an extension, with its value in words, or in hexadecimal if it is unknown, malformed, or has a part that
  /// cannot be described.
  private func jsonValue(of found: Extension) -> JSONValue {
    let value: String? =
      switch found.oid {
      case ObjectIdentifiers.keyUsage: keyUsage.map(Self.text)
      case ObjectIdentifiers.basicConstraints: constraints
      default: ExtensionDecoder.text(of: found.oid, found.value)
      }
    return .members(
      ("type", .string(found.oid)), ("name", .string(ObjectIdentifiers.names[found.oid] ?? "unknown")),
      ("critical", found.isCritical ? .bool(true) : nil), ("value", value.map { .string($0) }),
      ("hex", value == nil ? .string(Hexadecimal.encode(found.value)) : nil))
  }

  private var constraints: String {
    guard isCertificateAuthority else { return "no certificate authority" }
    return "certificate authority" + (pathLengthConstraint.map { ", path length \($0)" } ?? "")
  }

  private static func text(_ usage: KeyUsage) -> String {
    let names = [
      "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement",
      "keyCertSign",
      "cRLSign", "encipherOnly", "decipherOnly",
    ]
    return names.enumerated().filter { usage.rawValue & (1 << $0.offset) != 0 }.map(\.element)
      .joined(separator: ", ")
  }
}
