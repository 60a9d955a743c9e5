// SPDX-License-Identifier: Apache-2.0

/// The names of the object identifiers in receipts and their certificates (RFC 5280, RFC 5652, Apple's arc).
enum ObjectIdentifierNames {
  static func name(of identifier: String) -> String? { names[identifier] }

  /// Returns `true` if a member of a report is an object identifier.
  ///
  /// Both its name and its form are checked, because version numbers of apps have the same form.
  static func isObjectIdentifier(_ text: String, in member: String) -> Bool {
    let members = ["digestAlgorithm", "signatureAlgorithm", "type"]
    guard members.contains(member) || member.hasPrefix("[") else { return false }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 3 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { "0"..."9" ~= $0 } }
  }

  private static let names = [
    "2.5.29.14": "subjectKeyIdentifier", "2.5.29.15": "keyUsage", "2.5.29.16": "privateKeyUsagePeriod",
    "2.5.29.17": "subjectAltName", "2.5.29.18": "issuerAltName", "2.5.29.19": "basicConstraints",
    "2.5.29.30": "nameConstraints", "2.5.29.31": "cRLDistributionPoints", "2.5.29.32": "certificatePolicies",
    "2.5.29.33": "policyMappings", "2.5.29.35": "authorityKeyIdentifier", "2.5.29.36": "policyConstraints",
    "2.5.29.37": "extKeyUsage", "2.5.29.46": "freshestCRL", "2.5.29.54": "inhibitAnyPolicy",
    "1.3.6.1.5.5.7.1.1": "authorityInfoAccess", "1.3.6.1.5.5.7.48.1.5": "OCSP no check",
    "1.3.6.1.5.5.7.48.1": "OCSP", "1.3.6.1.5.5.7.48.2": "caIssuers", "1.3.6.1.5.5.7.2.1": "CPS",
    "1.3.6.1.5.5.7.2.2": "userNotice", "1.3.6.1.5.5.7.3.1": "serverAuth", "1.3.6.1.5.5.7.3.2": "clientAuth",
    "1.3.6.1.5.5.7.3.3": "codeSigning", "1.3.6.1.5.5.7.3.4": "emailProtection",
    "1.3.6.1.5.5.7.3.8": "timeStamping", "1.3.6.1.5.5.7.3.9": "OCSPSigning",
    "2.5.29.37.0": "anyExtendedKeyUsage", "2.5.29.32.0": "anyPolicy",
    "1.2.840.113635.100.5.1": "Apple certificate policy",
    "1.2.840.113635.100.5.6.1": "Mac App Store receipts",
    "1.2.840.113635.100.6.11.1": "App Store receipt signing",
    "1.2.840.113635.100.6.2.1": "Apple Worldwide Developer Relations intermediate",
    "1.2.840.113635.100.6.5.1": "iTunes Store receipt signing",
    "1.2.840.113635.100.6.2.2": "Apple iTunes Store intermediate",
    "1.3.14.3.2.26": "SHA-1", "2.16.840.1.101.3.4.2.1": "SHA-256", "2.16.840.1.101.3.4.2.2": "SHA-384",
    "2.16.840.1.101.3.4.2.3": "SHA-512", "1.2.840.113549.1.1.1": "rsaEncryption",
    "1.2.840.113549.1.1.5": "sha1WithRSAEncryption", "1.2.840.113549.1.1.11": "sha256WithRSAEncryption",
    "1.2.840.113549.1.1.12": "sha384WithRSAEncryption", "1.2.840.113549.1.1.13": "sha512WithRSAEncryption",
    "1.2.840.10045.4.3.2": "ecdsa-with-SHA256", "1.2.840.10045.4.3.3": "ecdsa-with-SHA384",
    "1.2.840.10045.4.3.4": "ecdsa-with-SHA512", "1.2.840.113549.1.7.1": "data",
    "1.2.840.113549.1.9.3": "contentType", "1.2.840.113549.1.9.4": "messageDigest",
    "1.2.840.113549.1.9.5": "signingTime", "1.2.840.113549.1.9.15": "smimeCapabilities",
    "1.2.840.113549.1.9.16.2.47": "signingCertificateV2", "1.2.840.113549.1.9.52": "CMSAlgorithmProtection",
  ]
}
