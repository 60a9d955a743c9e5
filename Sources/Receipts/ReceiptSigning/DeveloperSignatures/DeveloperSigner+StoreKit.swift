// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto

extension DeveloperSigner {
  /// Signs a promotional offer, version 1.
  ///
  /// The signed message is the UTF-8 of bundle, key, product, offer, account, nonce and timestamp, joined by U+2063.
  ///
  /// - Parameters:
  ///   - productId: The subscription's product identifier.
  ///   - offerIdentifier: The offer's identifier.
  ///   - appAccountToken: The account: `appAccountToken` or `applicationUsername`, signed in lower case; empty if the
  ///     app sets none.
  ///   - nonce: A UUID that was never used before; see ``randomNonce()``.
  ///   - timestamp: The current time.
  /// - Returns: The signature and the values that StoreKit needs with it.
  /// - Throws: ``SigningError`` with `invalid-value` if the nonce is not a UUID, the time is out of range or a text
  ///   contains the separator.
  public func promotionalOfferSignature(
    productId: String, offerIdentifier: String, appAccountToken: String = "", nonce: UUIDString,
    timestamp: Timestamp
  ) throws(SigningError) -> PromotionalOfferSignature {
    let nonce = try Self.canonical(nonce)
    _ = try Self.seconds(timestamp)
    let milliseconds = Int64(timestamp.wholeMilliseconds)
    let separator = "\u{2063}"
    let fields = [
      bundleId, keyId, productId, offerIdentifier, appAccountToken.lowercased(), nonce, String(milliseconds),
    ]
    // Otherwise one text could pass for two fields.
    guard !fields.contains(where: { $0.unicodeScalars.contains(separator.unicodeScalars) }) else {
      throw SigningError(.invalidValue, "A field of the offer holds U+2063, which separates the fields.")
    }
    let message = fields.joined(separator: separator)
    let signature = try privateKey.sign(Array(message.utf8), using: .ecdsa(.sha256))
    return PromotionalOfferSignature(
      encodedSignature: Base64.encodeToString(signature), keyId: keyId, nonce: UUIDString(rawValue: nonce),
      timestamp: milliseconds)
  }

  /// Signs a promotional offer, version 2: a JWS with the audience `promotional-offer`.
  ///
  /// - Parameters:
  ///   - productId: The subscription's product identifier.
  ///   - offerIdentifier: The offer's identifier.
  ///   - transactionId: Any transaction of the customer; optional, but recommended by Apple.
  ///   - nonce: A UUID that was never used before; see ``randomNonce()``.
  ///   - issuedAt: The current time.
  /// - Returns: The compact JWS.
  /// - Throws: ``SigningError`` with `invalid-value` if the nonce is not a UUID or the time is out of range.
  public func promotionalOffer(
    productId: String, offerIdentifier: String, transactionId: String? = nil, nonce: UUIDString,
    issuedAt: Timestamp
  ) throws(SigningError) -> String {
    try deviceToken(audience: "promotional-offer", nonce: nonce, issuedAt: issuedAt) { claims in
      claims.member("productId", productId)
      claims.member("offerIdentifier", offerIdentifier)
      claims.member("transactionId", transactionId)
    }
  }

  /// Signs the customer's eligibility for the introductory offer: a JWS with the audience
  /// `introductory-offer-eligibility`.
  ///
  /// - Parameters:
  ///   - productId: The subscription's product identifier.
  ///   - allowIntroductoryOffer: `true` if the customer may have the introductory offer.
  ///   - transactionId: Any transaction of the customer, or the app transaction's identifier.
  ///   - nonce: A UUID that was never used before; see ``randomNonce()``.
  ///   - issuedAt: The current time.
  /// - Returns: The compact JWS.
  /// - Throws: ``SigningError`` with `invalid-value` if the nonce is not a UUID or the time is out of range.
  public func introductoryOfferEligibility(
    productId: String, allowIntroductoryOffer: Bool, transactionId: String, nonce: UUIDString,
    issuedAt: Timestamp
  ) throws(SigningError) -> String {
    try deviceToken(audience: "introductory-offer-eligibility", nonce: nonce, issuedAt: issuedAt) { claims in
      claims.member("productId", productId)
      claims.member("allowIntroductoryOffer", allowIntroductoryOffer)
      claims.member("transactionId", transactionId)
    }
  }

  /// Signs an Advanced Commerce request: a JWS with the audience `advanced-commerce-api`.
  ///
  /// Its claim `request` is the request in base64.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - nonce: A UUID that was never used before; see ``randomNonce()``.
  ///   - issuedAt: The current time.
  /// - Returns: The compact JWS.
  /// - Throws: ``SigningError`` with `invalid-value` if the nonce is not a UUID or the time is out of range.
  public func advancedCommerceRequest(
    _ request: AdvancedCommerceRequest, nonce: UUIDString, issuedAt: Timestamp
  ) throws(SigningError) -> String {
    try deviceToken(audience: "advanced-commerce-api", nonce: nonce, issuedAt: issuedAt) { claims in
      claims.member("request", Base64.encodeToString(request.encoded))
    }
  }
}
