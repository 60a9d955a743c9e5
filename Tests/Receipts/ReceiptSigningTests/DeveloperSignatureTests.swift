// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@Suite struct DeveloperSignatureTests {
  private let nonce = UUIDString(rawValue: "A1B2C3D4-E5F6-4789-8ABC-DEF012345678")
  private let issuer = "57246542-96fe-1a63-e053-0824d011072a"
  private let now = Timestamp(millisecondsSince1970: 1_759_276_800_987)

  private func signer() throws -> DeveloperSigner {
    try DeveloperSigner(
      privateKey: TestKeys.developer(), keyId: "2X9R4HXF34", issuerId: issuer, bundleId: "com.example.app")
  }

  /// Checks the signature and gives the texts of header and claims.
  private func opened(_ token: String) throws -> (header: String, claims: String) {
    let jws = Array(token.utf8)
    let parsed = try UnverifiedJWS(parsing: jws)
    #expect(
      try TestKeys.developer().publicKey.isValidSignature(
        parsed.signature, for: Array(jws[parsed.signingInputRange]), using: .ecdsaP256SHA256))
    let header = try Base64URL.decode(token.prefix { $0 != "." })
    return (String(decoding: header, as: UTF8.self), String(decoding: parsed.payload, as: UTF8.self))
  }

  private let header = #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#
  private var base: String {
    #""nonce":"a1b2c3d4-e5f6-4789-8abc-def012345678","iss":"\#(issuer)","bid":"com.example.app""#
  }

  @Test func aPromotionalOfferOfVersion1IsJoinedByInvisibleSeparators() throws {
    let signature = try signer().promotionalOfferSignature(
      productId: "monthly", offerIdentifier: "half-price", appAccountToken: "User-ÄB", nonce: nonce,
      timestamp: now)
    var message: [UInt8] = []
    let fields = [
      "com.example.app", "2X9R4HXF34", "monthly", "half-price", "user-äb",
      "a1b2c3d4-e5f6-4789-8abc-def012345678", "1759276800987",
    ]
    for (index, field) in fields.enumerated() {
      if index > 0 { message += [0xE2, 0x81, 0xA3] }
      message += Array(field.utf8)
    }
    let der = try Base64.decode(Array(signature.encodedSignature.utf8))
    #expect(der.first == 0x30)
    #expect(
      try TestKeys.developer().publicKey.isValidSignature(der, for: message, using: .ecdsa(.sha256)))
    #expect(signature.keyId == "2X9R4HXF34" && signature.timestamp == 1_759_276_800_987)
    #expect(signature.nonce.rawValue == "a1b2c3d4-e5f6-4789-8abc-def012345678")
  }

  @Test func anEmptyAccountKeepsItsSeparators() throws {
    let signature = try signer().promotionalOfferSignature(
      productId: "p", offerIdentifier: "o", nonce: nonce, timestamp: now)
    let separator = "\u{2063}"
    let message =
      ["com.example.app", "2X9R4HXF34", "p", "o", "", "a1b2c3d4-e5f6-4789-8abc-def012345678"]
      .joined(separator: separator) + separator + "1759276800987"
    #expect(
      try TestKeys.developer().publicKey.isValidSignature(
        Base64.decode(Array(signature.encodedSignature.utf8)), for: Array(message.utf8),
        using: .ecdsa(.sha256)))
  }

  @Test func aTextWithTheSeparatorIsRefused() throws {
    let signer = try signer()
    let error = signingError { () throws(SigningError) in
      try signer.promotionalOfferSignature(
        productId: "p\u{2063}o", offerIdentifier: "x", nonce: nonce, timestamp: now)
    }
    #expect(error?.code == .invalidValue)
  }

  @Test func aPromotionalOfferOfVersion2() throws {
    let token = try signer().promotionalOffer(
      productId: "monthly", offerIdentifier: "half-price", transactionId: "2000", nonce: nonce, issuedAt: now)
    let (header, claims) = try opened(token)
    #expect(header == self.header)
    #expect(
      claims == "{\(base),\"aud\":\"promotional-offer\",\"iat\":1759276800,\"productId\":\"monthly\","
        + "\"offerIdentifier\":\"half-price\",\"transactionId\":\"2000\"}")
    let without = try signer().promotionalOffer(
      productId: "monthly", offerIdentifier: "half-price", nonce: nonce, issuedAt: now)
    #expect(try !opened(without).claims.contains("transactionId"))
  }

  @Test func introductoryOfferEligibility() throws {
    let token = try signer().introductoryOfferEligibility(
      productId: "monthly", allowIntroductoryOffer: false, transactionId: "2000", nonce: nonce, issuedAt: now)
    let (header, claims) = try opened(token)
    #expect(header == self.header)
    #expect(
      claims == "{\(base),\"aud\":\"introductory-offer-eligibility\",\"iat\":1759276800,"
        + "\"productId\":\"monthly\",\"allowIntroductoryOffer\":false,\"transactionId\":\"2000\"}")
  }

  @Test func anAdvancedCommerceRequestIsBase64InsideTheToken() throws {
    let body = Array(#"{"operation":"CREATE_ONE_TIME_CHARGE","version":"1"}"#.utf8)
    let token = try signer().advancedCommerceRequest(
      AdvancedCommerceRequest(encoded: body), nonce: nonce, issuedAt: now)
    let (header, claims) = try opened(token)
    #expect(header == self.header)
    #expect(
      claims == "{\(base),\"aud\":\"advanced-commerce-api\",\"iat\":1759276800,"
        + "\"request\":\"\(Base64.encodeToString(body))\"}")
  }

  @Test func aServerTokenLivesForItsLifetime() throws {
    let (header, claims) = try opened(signer().serverToken(issuedAt: now, lifetime: 1200))
    #expect(header == self.header)
    #expect(
      claims == "{\"iss\":\"\(issuer)\",\"iat\":1759276800,\"exp\":1759278000,"
        + "\"aud\":\"appstoreconnect-v1\",\"bid\":\"com.example.app\"}")
    #expect(try opened(signer().serverToken(issuedAt: now)).claims.contains("\"exp\":1759277100"))
    let signer = try signer()
    for lifetime in [0, -1, 3601] {
      let error = signingError { () throws(SigningError) in
        try signer.serverToken(issuedAt: now, lifetime: lifetime)
      }
      #expect(error?.code == .invalidValue)
      #expect(error?.place == "lifetime")
    }
  }

  @Test func aNonceIsAUUIDAndRandomOnesDiffer() throws {
    let signer = try signer()
    let error = signingError { () throws(SigningError) in
      try signer.promotionalOffer(
        productId: "p", offerIdentifier: "o", nonce: UUIDString(rawValue: "1"), issuedAt: now)
    }
    #expect(error?.code == .invalidValue)
    #expect(error?.place == "nonce")
    let random = (0..<8).map { _ in DeveloperSigner.randomNonce() }
    #expect(Set(random).count == 8)
    for nonce in random {
      #expect(nonce.canonical == nonce)
      #expect(Array(nonce.rawValue)[14] == "4")
    }
  }

  @Test func onlyP256KeysAreTakenAndNonePrinted() throws {
    let rsa = try TestIdentities.rsa.get().privateKey
    let error = signingError { () throws(SigningError) in
      try DeveloperSigner(privateKey: rsa, keyId: "k", issuerId: "i", bundleId: "b")
    }
    #expect(error?.code == .unsuitableKey)
    var dumped = ""
    dump(try signer(), to: &dumped)
    #expect(!dumped.contains("PrivateKey") && dumped.contains("2X9R4HXF34"))
  }
}
