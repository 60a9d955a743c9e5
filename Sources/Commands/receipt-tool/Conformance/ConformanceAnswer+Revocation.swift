// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto

extension ConformanceAnswer {
  /// The answer to a case of revocation: what an OCSP response or a revocation list says about a certificate.
  ///
  /// - Throws: The error of a certificate that cannot be read.
  init(ofRevocation asked: ConformanceCase) throws {
    let certificate = try Certificate(der: asked.bytes("certificate"))
    let issuer = try Certificate(der: asked.bytes("issuer"))
    guard let now = asked.time.wholeSecondsSince1970 else { throw MalformedReceipt.missing("time") }
    do {
      let status =
        asked.operation == "ocsp"
        ? try OCSPResponse(der: asked.bytes("response")).status(
          of: certificate, issuer: issuer,
          nonce: asked.input["nonce"] == nil ? nil : try asked.bytes("nonce"), at: now)
        : try CertificateRevocationList(der: asked.bytes("list")).status(
          of: certificate, issuer: issuer, at: now)
      self.init(verdict: "valid", values: Self.values(of: status.standing))
    } catch let error as OCSPError {
      let reason = Self.reason(of: error)
      self.init(
        verdict: reason == Self.responderError ? "undetermined" : "invalid", reason: reason,
        context: error.message)
    } catch let error as RevocationListError {
      self.init(verdict: "invalid", reason: Self.reason(of: error), context: error.message)
    }
  }

  /// The responder answers with an error, which nobody signs.
  private static let responderError = "responder-error"

  private static func values(of standing: CertificateStatus.Standing) -> JSONValue {
    switch standing {
    case .good: .members(("status", .string("good")))
    case .unknown: .members(("status", .string("unknown")))
    case .revoked(let instant, let reason):
      .members(
        ("status", .string("revoked")),
        ("revocationDate", .string(Timestamp(secondsSince1970: instant).iso8601)),
        ("revocationReason", reason.map { .string($0.description) }))
    }
  }

  private static func reason(of error: OCSPError) -> String {
    switch error.code {
    case .malformedResponse, .tooLarge: "malformed"
    case .malformedRequest, .internalError, .tryLater, .signatureRequired, .unauthorized,
      .unknownResponseStatus:
      responderError
    case .untrustedResponder: "wrong-signer"
    case .badSignature: "signature-mismatch"
    case .unsupportedExtension: "unsupported-extension"
    case .otherCertificate: "not-covered"
    case .nonceMismatch, .nonceMissing: "nonce-mismatch"
    case .notYetValid: "not-yet-valid"
    case .stale: "expired"
    case .internalFailure: error.code.rawValue
    }
  }

  private static func reason(of error: RevocationListError) -> String {
    switch error.code {
    case .malformedList, .tooLarge: "malformed"
    case .unsupportedExtension: "unsupported-extension"
    case .unsupportedList, .otherScope: "not-covered"
    case .otherIssuer: "wrong-signer"
    case .badSignature: "signature-mismatch"
    case .notYetValid: "not-yet-valid"
    case .stale: "expired"
    case .internalFailure: error.code.rawValue
    }
  }
}
