// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Signed transactions, renewal infos, app transactions, notifications and realtime requests (RFC 7515).
final class JWSEvidence: Evidence {
  private let jws: UnverifiedJWS
  private let limits: ReceiptLimits

  init(_ jws: UnverifiedJWS, limits: ReceiptLimits) {
    self.jws = jws
    self.limits = limits
  }

  var format: ReceiptFormat { .jws }
  var algorithm: ReceiptAlgorithm { .es256 }
  var signed: SignedContent {
    .bytes(signedContent, sharedPrefix: jws.encodedHeaderRange.upperBound + 1)
  }
  var signature: ArraySlice<UInt8> { jws.signature[...] }
  var cacheKey: SignerCacheKey { SignerCacheKey(jws.compact[jws.encodedHeaderRange]) }
  var receipt: UnverifiedReceipt { .jws(jws) }
  var encoded: [UInt8] { jws.compact }
  var signedContent: ArraySlice<UInt8> { jws.compact[jws.signingInputRange] }

  func signer() throws(ValidationError) -> SignerEvidence {
    let header: JWSHeader
    do throws(MalformedReceipt) {
      header = try jws.header(limits: limits)
    } catch {
      throw .malformed(error)
    }
    guard header.alg == "ES256" else {
      throw .invalid(
        .unsupportedAlgorithm, at: "$.alg of the JWS header",
        "The algorithm is \"\(header.alg)\"; a receipt is signed with ES256 and nothing else.")
    }
    guard header.crit == nil else {
      throw .invalid(
        .malformed, at: "$.crit of the JWS header",
        "The header requires extensions (crit); receipts have none, and none is understood.")
    }
    return .certificates(CertificateEvidence(certificates: header.x5c, leaf: .first, requirements: .jws))
  }

  func decodedContent() throws(MalformedReceipt) -> DecodedContent {
    let payload = try jws.decodePayload(limits: limits)
    return DecodedContent(
      content: .jws(payload),
      claims: Claims(
        kind: payload.kind, environment: payload.environment, isEnvironmentSigned: true,
        bundleId: payload.bundleId, appAppleId: payload.appAppleId, signedAt: payload.signedDate,
        device: Self.device(of: payload)),
      parts: Self.parts(of: payload))
  }

  private static func device(of payload: JWSPayload) -> DeviceBinding? {
    let binding: (verification: String?, nonce: String?) =
      switch payload {
      case .transaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      case .appTransaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      case .renewalInfo, .notification, .realtimeRequest: (nil, nil)
      }
    guard let verification = binding.verification, let nonce = binding.nonce else { return nil }
    return .deviceVerification(verification, nonce: nonce)
  }

  private static func parts(of payload: JWSPayload) -> [SignedPart] {
    guard case .notification(let notification) = payload else { return [] }
    let places: [(String?, ReceiptKind, String)] = [
      (notification.data?.signedTransactionInfo, .signedTransaction, "$.data.signedTransactionInfo"),
      (notification.data?.signedRenewalInfo, .signedRenewalInfo, "$.data.signedRenewalInfo"),
      (
        notification.appData?.signedAppTransactionInfo, .signedAppTransaction,
        "$.appData.signedAppTransactionInfo"
      ),
    ]
    return places.compactMap { compact, kind, place in
      compact.map { SignedPart(compact: $0, kind: kind, place: place) }
    }
  }
}
