// SPDX-License-Identifier: Apache-2.0

/// The reason for which a revocation list does not determine a certificate's status.
package struct RevocationListError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The stable code of an error.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The input is not a certificate revocation list in DER, or has contradictory times.
    case malformedList = "malformed-list"
    /// The list is larger than ``CertificateRevocationList/maximumByteCount``.
    case tooLarge = "too-large"
    /// The list has an unknown critical extension, such as those of indirect and delta lists.
    case unsupportedExtension = "unsupported-extension"
    /// The list is an indirect or delta list, or covers only some of the reasons.
    case unsupportedList = "unsupported-list"
    /// The list belongs to another issuer, or the issuer may not sign lists.
    case otherIssuer = "other-issuer"
    /// The list belongs to the issuer but does not cover this kind of certificate.
    case otherScope = "other-scope"
    /// The signature is wrong, or its algorithm is not accepted.
    case badSignature = "bad-signature"
    /// The list is from the future.
    case notYetValid = "not-yet-valid"
    /// The list is out of date: a newer one is available, or should be.
    case stale
    /// OpenSSL failed unexpectedly, for example because it could not allocate memory.
    case internalFailure = "internal-failure"
  }

  /// The code of the error.
  package let code: Code
  /// A description of the error, in one or two sentences.
  package let message: String

  /// Creates an error.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static let outOfMemory = RevocationListError(.internalFailure, "OpenSSL has no memory.")

  /// The code and the message.
  package var description: String { "\(code.rawValue): \(message)" }
}
