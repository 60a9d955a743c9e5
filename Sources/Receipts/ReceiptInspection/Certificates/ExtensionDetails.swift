// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// An extension of a certificate, described in words if it is known.
package struct ExtensionDetails: Sendable, Hashable {
  package let type: String
  /// The name of the object identifier; `nil` if it is unknown.
  package let name: String?
  /// `true` if a verifier that does not know the extension must refuse the certificate.
  package let isCritical: Bool
  /// The value in words; `nil` if the extension is unknown, malformed, or has a part that cannot be described.
  package let value: String?
  /// The value's DER in hexadecimal.
  package let hex: String

  init(_ found: Certificate.Extension, of certificate: Certificate) {
    type = found.oid
    name = ObjectIdentifiers.names[found.oid]
    isCritical = found.isCritical
    value = Self.text(found, of: certificate)
    hex = Hexadecimal.encode(found.value)
  }

  /// The extension as JSON, with its value in words, or in hexadecimal if there is no description.
  var jsonValue: JSONValue {
    .members(
      ("type", .string(type)), ("name", .string(name ?? "unknown")),
      ("critical", isCritical ? .bool(true) : nil), ("value", value.map { .string($0) }),
      ("hex", value == nil ? .string(hex) : nil))
  }

  private static func text(_ found: Certificate.Extension, of certificate: Certificate) -> String? {
    switch found.oid {
    case ObjectIdentifiers.keyUsage: certificate.keyUsage.map(text)
    case ObjectIdentifiers.basicConstraints: constraints(certificate)
    default: ExtensionDecoder.text(of: found.oid, found.value)
    }
  }

  private static func constraints(_ certificate: Certificate) -> String {
    guard certificate.isCertificateAuthority else { return "no certificate authority" }
    let length = certificate.pathLengthConstraint.map { ", path length \($0)" } ?? ""
    return "certificate authority\(length)"
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
