// SPDX-License-Identifier: Apache-2.0

/// What statements of revocation may be signed with, as dotted identifiers.
enum RevocationSignature {
  /// RSA and ECDSA with SHA-2.
  private static let strong: Set<String> = [
    "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.12", "1.2.840.113549.1.1.13", "1.2.840.10045.4.3.2",
    "1.2.840.10045.4.3.3", "1.2.840.10045.4.3.4",
  ]

  private static let rsaWithSHA1 = "1.2.840.113549.1.1.5"

  /// A responder signs the nonces of strangers, who could prepare two responses with one SHA-1 digest.
  static func acceptsInResponse(oid: String) -> Bool { strong.contains(oid) }

  /// A list holds nothing that a stranger chose, so that SHA-1 can still be believed: Apple's first root, of
  /// 2006, certifies with it.
  static func acceptsInList(oid: String) -> Bool { strong.contains(oid) || oid == rsaWithSHA1 }
}
