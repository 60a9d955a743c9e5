// SPDX-License-Identifier: Apache-2.0

extension CMSSignedData {
  /// SHA-1, `1.3.14.3.2.26`.
  package static let sha1 = "1.3.14.3.2.26"
  /// SHA-256, `2.16.840.1.101.3.4.2.1`.
  package static let sha256 = "2.16.840.1.101.3.4.2.1"
  /// RSA with PKCS#1 version 1.5 padding, `1.2.840.113549.1.1.1`; the digest algorithm is named separately.
  package static let rsaEncryption = "1.2.840.113549.1.1.1"
  /// RSA with PKCS#1 version 1.5 padding and SHA-1, `1.2.840.113549.1.1.5`.
  package static let sha1WithRSAEncryption = "1.2.840.113549.1.1.5"
  /// RSA with PKCS#1 version 1.5 padding and SHA-256, `1.2.840.113549.1.1.11`.
  package static let sha256WithRSAEncryption = "1.2.840.113549.1.1.11"
}

/// The object identifiers that the container's reader compares with, as contents octets.
enum CMSIdentifiers {
  /// `1.2.840.113549.1.7.1`
  static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
  /// `1.2.840.113549.1.7.2`
  static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
  /// `1.2.840.113549.1.9.3`
  static let contentType = "1.2.840.113549.1.9.3"
  /// `1.2.840.113549.1.9.4`
  static let messageDigest = "1.2.840.113549.1.9.4"

  /// The algorithms in use, so that their dotted form is not built again for each receipt.
  private static let algorithms: [(contents: [UInt8], dotted: String)] = [
    (ObjectIdentifiers.sha256Contents, ObjectIdentifiers.sha256),
    (ObjectIdentifiers.sha1Contents, ObjectIdentifiers.sha1),
    (ObjectIdentifiers.rsaEncryptionContents, ObjectIdentifiers.rsaEncryption),
    (ObjectIdentifiers.sha256WithRSAEncryptionContents, ObjectIdentifiers.sha256WithRSAEncryption),
    (ObjectIdentifiers.sha1WithRSAEncryptionContents, ObjectIdentifiers.sha1WithRSAEncryption),
  ]

  static func matches(_ identifier: [UInt8], _ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
    guard identifier.count == range.count else { return false }
    for index in identifier.indices where identifier[index] != bytes[range.lowerBound + index] {
      return false
    }
    return true
  }

  /// Returns the dotted form of an algorithm in use; `nil` for any other algorithm.
  static func knownAlgorithm(_ range: Range<Int>, _ bytes: Span<UInt8>) -> String? {
    for algorithm in algorithms where matches(algorithm.contents, range, bytes) { return algorithm.dotted }
    return nil
  }
}
