// SPDX-License-Identifier: Apache-2.0

/// What statements of revocation may be signed with: RSA and ECDSA with SHA-2. Nobody has reason to sign a
/// new statement with less, and a responder signs what strangers send it.
enum RevocationSignature {
  private static let accepted: Set<String> = [
    "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.12", "1.2.840.113549.1.1.13", "1.2.840.10045.4.3.2",
    "1.2.840.10045.4.3.3", "1.2.840.10045.4.3.4",
  ]

  static func accepts(oid: String) -> Bool { accepted.contains(oid) }
}
