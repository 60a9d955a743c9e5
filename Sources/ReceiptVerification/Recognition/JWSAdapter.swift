// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Signed transactions, renewal infos, app transactions, notifications and realtime requests (RFC 7515).
enum JWSAdapter {
  static func evidence(in jws: UnverifiedJWS, limits: ReceiptLimits) -> Evidence {
    Evidence(
      format: .jws, algorithm: .es256,
      signed: .bytes(
        jws.compact[jws.signingInputRange], sharedPrefix: jws.encodedHeaderRange.upperBound + 1),
      signature: jws.signature[...], cacheKey: SignerCacheKey(jws.compact[jws.encodedHeaderRange]),
      signer: { () throws(ValidationError) in try signer(of: jws, limits: limits) },
      content: { () throws(MalformedReceipt) in content(try jws.decodePayload(limits: limits)) },
      receipt: .jws(jws))
  }

  private static func signer(
    of jws: UnverifiedJWS, limits: ReceiptLimits
  ) throws(ValidationError) -> SignerEvidence {
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
    return SignerEvidence(certificates: header.x5c, leaf: .first, requirements: .jws)
  }

  private static func content(_ payload: JWSPayload) -> DecodedContent {
    DecodedContent(
      content: .jws(payload),
      claims: Claims(
        kind: payload.kind, environment: payload.environment, isEnvironmentSigned: true,
        bundleId: payload.bundleId, appAppleId: payload.appAppleId, signedAt: payload.signedDate,
        device: device(of: payload)),
      parts: parts(of: payload), summary: "it is a \(payload.kind.rawValue)")
  }

  private static func device(of payload: JWSPayload) -> DeviceBinding? {
    let binding: (verification: String?, nonce: String?) =
      switch payload {
      case .transaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      case .appTransaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      default: (nil, nil)
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
