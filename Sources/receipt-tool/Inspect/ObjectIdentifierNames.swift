// SPDX-License-Identifier: Apache-2.0

/// Names of the object identifiers that receipts and their certificates contain (RFC 5280, RFC 5652, Apple's arc).
enum ObjectIdentifierNames {
  static func name(of identifier: String) -> String? { names[identifier] }

  private static let names = [
    "2.5.29.14": "subjectKeyIdentifier", "2.5.29.15": "keyUsage", "2.5.29.17": "subjectAltName",
    "2.5.29.19": "basicConstraints", "2.5.29.31": "cRLDistributionPoints",
    "2.5.29.32": "certificatePolicies", "2.5.29.35": "authorityKeyIdentifier", "2.5.29.37": "extKeyUsage",
    "1.3.6.1.5.5.7.1.1": "authorityInfoAccess",
    "1.2.840.113635.100.6.11.1": "App Store receipt signing",
    "1.2.840.113635.100.6.2.1": "Apple Worldwide Developer Relations intermediate",
    "1.2.840.113635.100.6.5.1": "iTunes Store receipt signing",
    "1.2.840.113635.100.6.2.2": "Apple iTunes Store intermediate",
    "1.3.14.3.2.26": "SHA-1", "2.16.840.1.101.3.4.2.1": "SHA-256", "2.16.840.1.101.3.4.2.2": "SHA-384",
    "2.16.840.1.101.3.4.2.3": "SHA-512", "1.2.840.113549.1.1.1": "rsaEncryption",
    "1.2.840.113549.1.1.5": "sha1WithRSAEncryption", "1.2.840.113549.1.1.11": "sha256WithRSAEncryption",
    "1.2.840.113549.1.9.3": "contentType", "1.2.840.113549.1.9.4": "messageDigest",
    "1.2.840.113549.1.9.5": "signingTime",
  ]
}
