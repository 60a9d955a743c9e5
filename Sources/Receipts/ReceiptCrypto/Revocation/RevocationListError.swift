// SPDX-License-Identifier: Apache-2.0

/// Why a revocation list says nothing about a certificate.
public struct RevocationListError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Not a certificate revocation list in DER, or one whose times contradict each other.
    case malformedList = "malformed-list"
    /// Longer than ``CertificateRevocationList/maximumByteCount``.
    case tooLarge = "too-large"
    /// It has a critical extension that is not known here, as those of indirect and delta lists are.
    case unsupportedExtension = "unsupported-extension"
    /// It is an indirect or a delta list, or one of a part of the reasons.
    case unsupportedList = "unsupported-list"
    /// It is another issuer's, or the issuer may not sign lists.
    case otherIssuer = "other-issuer"
    /// It is the issuer's, and does not cover certificates such as this one.
    case otherScope = "other-scope"
    /// The signature is wrong, or made with an algorithm that is not accepted.
    case badSignature = "bad-signature"
    /// It is from the future.
    case notYetValid = "not-yet-valid"
    /// A newer list is there, or should be.
    case stale
    /// OpenSSL failed where it should not, for instance for want of memory.
    case internalFailure = "internal-failure"
  }

  /// The kind of fault.
  public let code: Code
  /// One or two sentences for a person.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static let outOfMemory = RevocationListError(.internalFailure, "OpenSSL has no memory.")

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}
