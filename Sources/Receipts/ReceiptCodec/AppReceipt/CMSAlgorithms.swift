// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Object identifiers as the reader of the container compares them.
enum CMSIdentifiers {
  /// The algorithms in use, so that their dotted spelling is not built for each receipt.
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

  /// The dotted spelling of an algorithm in use.
  static func knownAlgorithm(_ range: Range<Int>, _ bytes: Span<UInt8>) -> String? {
    for algorithm in algorithms where matches(algorithm.contents, range, bytes) { return algorithm.dotted }
    return nil
  }
}
