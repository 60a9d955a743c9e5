// SPDX-License-Identifier: Apache-2.0

/// The kind of error in an ASN.1 value.
public enum ASN1Fault: String, Sendable, Hashable {
  /// The input ends inside a value.
  case truncated
  /// Data remains after the expected end of a value.
  case trailingData = "trailing-data"
  /// The value has a different tag from the one that is required here.
  case unexpected
  /// A length, tag or content violates its encoding.
  case invalidValue = "invalid-value"
  /// The nesting is deeper than the limit.
  case tooDeep = "too-deep"
  /// A number exceeds the supported range.
  case outOfRange = "out-of-range"
  /// The value is well formed, but this reader does not accept it: its length is indefinite.
  case unsupported
}

/// Creates the errors that ``ASN1Reader`` throws, for a format that is encoded in ASN.1.
public protocol ASN1Errors {
  associatedtype Failure: Error

  /// Creates an error.
  static func error(_ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String) -> Failure
}

/// The encoding rules under which ``ASN1Reader`` reads.
public enum ASN1Rules: Sendable { case der, ber }
