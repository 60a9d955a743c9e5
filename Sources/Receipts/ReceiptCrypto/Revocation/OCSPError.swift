// SPDX-License-Identifier: Apache-2.0

/// Why an OCSP response says nothing about a certificate.
public struct OCSPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Not an OCSP response in DER, one without the basic response of RFC 6960 section 4.2.1, or one whose
    /// times contradict each other.
    case malformedResponse = "malformed-response"
    /// Longer than ``OCSPResponse/maximumByteCount``.
    case tooLarge = "too-large"
    /// The responder could not read the request (`malformedRequest`).
    case malformedRequest = "malformed-request"
    /// The responder failed (`internalError`).
    case internalError = "internal-error"
    /// The responder is busy (`tryLater`).
    case tryLater = "try-later"
    /// The responder wants signed requests (`sigRequired`).
    case signatureRequired = "signature-required"
    /// The responder does not answer us, or not for this issuer (`unauthorized`).
    case unauthorized
    /// A response status that RFC 6960 does not know.
    case unknownResponseStatus = "unknown-response-status"
    /// Signed by neither the issuer nor a responder that the issuer itself certified for OCSP.
    case untrustedResponder = "untrusted-responder"
    /// The signature is wrong, or made with an algorithm that is not accepted.
    case badSignature = "bad-signature"
    /// An extension that must be understood is not.
    case unsupportedExtension = "unsupported-extension"
    /// It does not speak of this certificate, or does so twice.
    case otherCertificate = "other-certificate"
    /// It answers another request.
    case nonceMismatch = "nonce-mismatch"
    /// It has no nonce, and one was demanded.
    case nonceMissing = "nonce-missing"
    /// It is from the future.
    case notYetValid = "not-yet-valid"
    /// Newer information is there, or should be.
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

  /// Indicates whether the responder asks to be asked again.
  public var isRetryable: Bool { code == .tryLater || code == .internalError }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }

  static let outOfMemory = OCSPError(.internalFailure, "OpenSSL has no memory.")
}
