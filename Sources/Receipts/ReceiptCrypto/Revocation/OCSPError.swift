// SPDX-License-Identifier: Apache-2.0

/// The reason for which an OCSP response does not determine a certificate's status.
package struct OCSPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The stable code of an error.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The input is not an OCSP response in DER, has no basic response (RFC 6960 section 4.2.1), or has contradictory
    /// times.
    case malformedResponse = "malformed-response"
    /// The response is larger than ``OCSPResponse/maximumByteCount``.
    case tooLarge = "too-large"
    /// The responder could not read the request (`malformedRequest`).
    case malformedRequest = "malformed-request"
    /// The responder failed (`internalError`).
    case internalError = "internal-error"
    /// The responder is busy (`tryLater`).
    case tryLater = "try-later"
    /// The responder requires signed requests (`sigRequired`).
    case signatureRequired = "signature-required"
    /// The responder does not answer this client, or not for this issuer (`unauthorized`).
    case unauthorized
    /// The response status is not defined in RFC 6960.
    case unknownResponseStatus = "unknown-response-status"
    /// The signer is neither the issuer nor a responder that the issuer itself certified for OCSP.
    case untrustedResponder = "untrusted-responder"
    /// The signature is wrong, or its algorithm is not accepted.
    case badSignature = "bad-signature"
    /// The response has an unknown critical extension.
    case unsupportedExtension = "unsupported-extension"
    /// The response has no answer for this certificate, or more than one.
    case otherCertificate = "other-certificate"
    /// The response has the nonce of another request.
    case nonceMismatch = "nonce-mismatch"
    /// The response has no nonce, and one is required.
    case nonceMissing = "nonce-missing"
    /// The response is from the future.
    case notYetValid = "not-yet-valid"
    /// The response is out of date: newer information is available, or should be.
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

  /// Indicates whether the request can be repeated later.
  package var isRetryable: Bool { code == .tryLater || code == .internalError }

  /// The code and the message.
  package var description: String { "\(code.rawValue): \(message)" }

  static let outOfMemory = OCSPError(.internalFailure, "OpenSSL has no memory.")
}
