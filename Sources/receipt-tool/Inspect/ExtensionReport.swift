// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// Shows an extension of a certificate: its identifier, its name if known, and its value in words, otherwise in
/// hexadecimal.
enum ExtensionReport {
  static func value(_ found: Certificate.Extension, of certificate: Certificate) -> JSONValue {
    var members = [
      JSONMember(name: "type", value: .string(found.oid)),
      JSONMember(name: "name", value: .string(ObjectIdentifierNames.name(of: found.oid) ?? "unknown")),
    ]
    if found.isCritical { members.append(JSONMember(name: "critical", value: .bool(true))) }
    if let text = text(found.oid, certificate) {
      members.append(JSONMember(name: "value", value: .string(text)))
    } else {
      members.append(JSONMember(name: "hex", value: .string(Hexadecimal.encode(found.value))))
    }
    return .object(members)
  }

  private static func text(_ identifier: String, _ certificate: Certificate) -> String? {
    switch identifier {
    case "2.5.29.14": certificate.subjectKeyIdentifier.map { Hexadecimal.encode($0) }
    case "2.5.29.15": certificate.keyUsage.map(text)
    case "2.5.29.19": constraints(certificate)
    case "2.5.29.35": certificate.authorityKeyIdentifier.map { Hexadecimal.encode($0) }
    case "2.5.29.31" where !certificate.crlURLs.isEmpty: certificate.crlURLs.joined(separator: ", ")
    case "1.3.6.1.5.5.7.1.1" where !certificate.ocspURLs.isEmpty:
      "OCSP \(certificate.ocspURLs.joined(separator: ", "))"
    default: nil
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
