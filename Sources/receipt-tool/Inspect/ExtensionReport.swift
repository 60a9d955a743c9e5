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
    if let text = text(found, of: certificate) {
      members.append(JSONMember(name: "value", value: .string(text)))
    } else {
      members.append(JSONMember(name: "hex", value: .string(Hexadecimal.encode(found.value))))
    }
    return .object(members)
  }

  private static func text(_ found: Certificate.Extension, of certificate: Certificate) -> String? {
    switch found.oid {
    case "2.5.29.15": certificate.keyUsage.map(text)
    case "2.5.29.19": constraints(certificate)
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
