// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

/// Purchases of other stores from authoring JSON.
@Suite struct AppKeySignerTests {
  private func data(_ json: String, as kind: ReceiptKind) throws -> String {
    let signer = ReceiptSigner(identity: SigningIdentity(appKey: try TestKeys.app()))
    let input = try ReceiptInput(decoding: Array(json.utf8), as: kind, signedAt: testStart)
    let receipt = try UnverifiedDetachedReceipt(parsing: signer.sign(input))
    let (algorithm, key) = (
      kind == .huaweiPurchase ? DigestAlgorithm.sha256 : .sha1, try TestKeys.app().publicKey
    )
    #expect(
      SignatureReference.isValidSignature(
        receipt.signature, for: receipt.signedBytes, digest: algorithm, key: key))
    return String(decoding: receipt.signedBytes, as: UTF8.self)
  }

  private func error(_ json: String, as kind: ReceiptKind) -> SigningError? {
    signingError { () throws(SigningError) in
      try ReceiptInput(decoding: Array(json.utf8), as: kind, signedAt: testStart)
    }
  }

  @Test func thePurchaseIsWrittenInTheStoresOrderWithTheTimeFilledIn() throws {
    let now = Int64(testStart.millisecondsSince1970)
    #expect(
      try data(
        #"{"productId":"coins","packageName":"a","orderId":"1","novelty":[1.50]}"#, as: .googlePlayPurchase)
        == #"{"orderId":"1","packageName":"a","productId":"coins","purchaseTime":\#(now),"purchaseState":0,"novelty":[1.50]}"#
    )
    #expect(
      try data(
        #"{"productId":"p","packageName":"a","purchaseTime":"2025-10-01T07:09:10Z","price":"1"}"#,
        as: .huaweiPurchase)
        == #"{"packageName":"a","productId":"p","purchaseTime":1759302550000,"purchaseState":0,"price":"1"}"#)
    let orders = #"{"nonce":-9223372036854775808,"orders":[{"packageName":"a","purchaseTime":1}]}"#
    #expect(try data(orders, as: .googlePlayPurchase) == orders)
    #expect(
      try data(#"{"packageName":"a","nonce":7,"timestamp":5,"extras":"VT=6"}"#, as: .googlePlayLicense)
        == "0|7|a|1||5:VT=6")
  }

  @Test(arguments: [
    (
      #"{"productId":"coins"}"#, ReceiptKind.googlePlayPurchase, SigningError.Code.missingField,
      "$.packageName"
    ),
    (#"{"packageName":"a"}"#, .huaweiPurchase, .missingField, "$.productId"),
    (
      #"{"packageName":"a","productId":"b","quantity":"1"}"#, .googlePlayPurchase, .malformedInput,
      "$.quantity"
    ),
    (#"{"orders":[]}"#, .googlePlayPurchase, .missingField, "$.orders[0].packageName"),
    (#"{"packageName":"a"}"#, .googlePlayLicense, .missingField, "$.nonce"),
    (#"{"packageName":"a|b","nonce":1}"#, .googlePlayLicense, .malformedInput, "$.packageName"),
    (#"{"packageName":"a","nonce":1,"novelty":1}"#, .googlePlayLicense, .unknownField, "$.novelty"),
  ])
  func whatIsMissingOrWrongIsPlaced(
    json: String, kind: ReceiptKind, code: SigningError.Code, place: String
  ) {
    let error = error(json, as: kind)
    #expect(error?.code == code)
    #expect(error?.place == place)
  }

  @Test func theKeyMustBeLongEnoughAndPSSHuaweis() throws {
    for key in [try PrivateKey.generateP256(), try PrivateKey.generateRSA(bits: 1024)] {
      let error = signingError { () throws(SigningError) in
        try AppKeySigner(identity: SigningIdentity(appKey: key))
      }
      #expect(error?.code == .unsuitableKey)
    }
    let signer = try AppKeySigner(identity: SigningIdentity(appKey: TestKeys.app()))
    let error = signingError { () throws(SigningError) in
      try signer.sign(.googlePlayPurchase(SampleReceipts.googlePlayPurchase), usesPSS: true)
    }
    #expect(error?.code == .invalidValue)
    let receipt = try UnverifiedDetachedReceipt(
      parsing: signer.sign(.huaweiPurchase(SampleReceipts.huaweiPurchase), usesPSS: true))
    #expect(receipt.statedAlgorithm == "SHA256withRSA/PSS")
  }
}
