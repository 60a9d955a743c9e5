// SPDX-License-Identifier: Apache-2.0

/// A fault of a value in ASN.1.
public enum ASN1Fault: String, Sendable, Hashable {
  /// The input ends in the middle of a value.
  case truncated
  /// Something follows where a value should have ended.
  case trailingData = "trailing-data"
  /// A value of another tag than the one that must be here.
  case unexpected
  /// A length, tag or content that breaks its encoding.
  case invalidValue = "invalid-value"
  /// Nested deeper than the limit.
  case tooDeep = "too-deep"
  /// A number beyond what is read.
  case outOfRange = "out-of-range"
  /// Well formed, but not accepted here: a length that is indefinite.
  case unsupported
}

/// The errors of a format that is written in ASN.1, as ``ASN1Reader`` throws them.
public protocol ASN1Errors {
  associatedtype Failure: Error

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - fault: What is wrong.
  ///   - offset: The byte at which it is wrong.
  ///   - part: The name of the input.
  ///   - message: What was found and what was expected, in one sentence.
  /// - Returns: The error.
  static func error(_ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String) -> Failure
}

/// The encoding rules under which ``ASN1Reader`` reads.
public enum ASN1Rules: Sendable { case der, ber }
