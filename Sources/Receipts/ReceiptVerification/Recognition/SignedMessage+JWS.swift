// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Signed transactions, renewal infos, app transactions, notifications and realtime requests (RFC 7515).
extension SignedMessage {
  convenience init(_ jws: UnverifiedJWS, limits: ReceiptLimits) {
    self.init(
      .jws(jws), algorithm: .es256,
      signed: .bytes(
        jws.compact[jws.signingInputRange], sharedPrefix: jws.encodedHeaderRange.upperBound + 1),
      signature: jws.signature[...], cacheKey: SignerCacheKey(jws.compact[jws.encodedHeaderRange]),
      keySource: .header(of: jws), limits: limits)
  }
}

extension EmbeddedCertificates {
  /// Reads the certificates in the header of a JWS, the signer's first.
  init(inHeaderOf jws: UnverifiedJWS, limits: ReceiptLimits) throws(ValidationError) {
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
    self.init(certificates: header.x5c, leaf: .first, requirements: .jws)
  }
}

extension DecodedContent {
  init(_ payload: JWSPayload) {
    self.init(
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
