// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

/// The contents of a certificate in words; names are untrusted text, exactly as in the certificate.
package struct CertificateDetails: Sendable, Hashable {
  package let subject: String
  package let issuer: String
  /// The serial number in hexadecimal.
  package let serialNumber: String
  package let notBefore: Timestamp
  package let notAfter: Timestamp
  /// The SHA-256 of the certificate in hexadecimal.
  package let sha256: String
  /// The kind of the public key, such as `P-256`.
  package let key: String
  /// The object identifier of the algorithm with which the issuer signed the certificate.
  package let signatureAlgorithm: String
  /// The extensions, in the order of the certificate.
  package let extensions: [ExtensionDetails]

  /// The name of the signature algorithm; its object identifier if the name is unknown.
  package var signatureAlgorithmName: String {
    ObjectIdentifiers.names[signatureAlgorithm] ?? signatureAlgorithm
  }

  package init(_ certificate: Certificate) {
    subject = certificate.subject
    issuer = certificate.issuer
    serialNumber = Hexadecimal.encode(certificate.serialNumber)
    notBefore = Timestamp(secondsSince1970: certificate.notBefore)
    notAfter = Timestamp(secondsSince1970: certificate.notAfter)
    sha256 = certificate.sha256FingerprintHex
    key = certificate.publicKey.kind.name
    signatureAlgorithm = certificate.signatureAlgorithmOID
    extensions = certificate.extensions.map { ExtensionDetails($0, of: certificate) }
  }

  var jsonValue: JSONValue {
    .members(
      ("subject", .string(subject)),
      ("issuer", .string(issuer)),
      ("serialNumber", .string(serialNumber)),
      ("notBefore", .string(notBefore.iso8601)),
      ("notAfter", .string(notAfter.iso8601)),
      ("sha256", .string(sha256)),
      ("key", .string(key)),
      ("signatureAlgorithm", .string(signatureAlgorithm)),
      ("extensions", .array(extensions.map(\.jsonValue))))
  }
}

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
