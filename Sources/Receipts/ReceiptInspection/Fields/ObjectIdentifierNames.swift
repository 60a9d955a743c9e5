// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Names of the object identifiers that receipts and their certificates contain (RFC 5280, RFC 5652, Apple's arc).
enum ObjectIdentifierNames {
  static func name(of identifier: String) -> String? { ObjectIdentifiers.names[identifier] }

  /// Whether a member of a report is an object identifier, by its name and form. Versions of apps look like them.
  static func isObjectIdentifier(_ text: String, in member: String) -> Bool {
    let members = ["digestAlgorithm", "signatureAlgorithm", "type"]
    guard members.contains(member) || member.hasPrefix("[") else { return false }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 3 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { "0"..."9" ~= $0 } }
  }
}
