// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The names of the object identifiers in receipts and their certificates (RFC 5280, RFC 5652, Apple's arc).
enum ObjectIdentifierNames {
  static func name(of identifier: String) -> String? { ObjectIdentifiers.names[identifier] }

  /// Returns `true` if a member of a report is an object identifier.
  ///
  /// Both its name and its form are checked, because version numbers of apps have the same form.
  static func isObjectIdentifier(_ text: String, in member: String) -> Bool {
    let members = ["digestAlgorithm", "signatureAlgorithm", "type"]
    guard members.contains(member) || member.hasPrefix("[") else { return false }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 3 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { "0"..."9" ~= $0 } }
  }
}
