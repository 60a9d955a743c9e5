// SPDX-License-Identifier: Apache-2.0

/// Creates the errors that ``ASN1Reader`` throws, for a format that is encoded in ASN.1.
public protocol ASN1Errors {
  associatedtype Failure: Error

  /// Creates an error.
  static func error(_ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String) -> Failure
}

/// The encoding rules under which ``ASN1Reader`` reads.
public enum ASN1Rules: Sendable { case der, ber }
