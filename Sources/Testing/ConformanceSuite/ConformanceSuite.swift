// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The conformance suite, as it is published: a JSON document of cases.
package struct ConformanceSuite: Sendable {
  /// The version of the suite, such as `1.0.0`.
  package let version: String
  /// SHA-256 of the document, in hexadecimal.
  package let sha256: String
  package let cases: [SuiteCase]

  private static let format = "receipt-conformance-1"

  /// Reads a suite.
  ///
  /// - Throws: ``UnusableInput`` if the bytes are no suite of the format that this version reads.
  package init(_ document: [UInt8]) throws(UnusableInput) {
    let value: JSONValue
    do throws(MalformedReceipt) {
      value = try JSONValue(
        parsing: document, part: "suite",
        limits: ReceiptLimits(maximumByteCount: document.count, maximumElementCount: .max))
    } catch {
      throw UnusableInput("It is no suite: \(error)")
    }
    guard value["format"]?.string == Self.format, let version = value["version"]?.string,
      let cases = value["cases"]?.array, !cases.isEmpty
    else { throw UnusableInput("It is no suite of the format \(Self.format) with cases.") }
    self.version = version
    var read: [SuiteCase] = []
    read.reserveCapacity(cases.count)
    for (index, each) in cases.enumerated() {
      guard let suiteCase = SuiteCase(each) else {
        throw UnusableInput("$.cases[\(index)] is no case.")
      }
      read.append(suiteCase)
    }
    self.cases = read
    sha256 = Hexadecimal.encode(Digest.hash(document, using: .sha256))
  }
}

/// The error for a suite, or a file of expected failures, that cannot be used.
package struct UnusableInput: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
