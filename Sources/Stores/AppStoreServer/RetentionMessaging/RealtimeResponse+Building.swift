// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptSigning

extension RealtimeResponse {
  /// Returns the object as compact JSON; the fields are in the order of Apple's documentation, unknown ones last.
  public func encoded() -> [UInt8] { encodedJSON() }
}

extension RealtimePromotionalOfferSignatureV1 {
  package init(
    _ signature: PromotionalOfferSignature, productId: String, offerIdentifier: String,
    appAccountToken: UUIDString? = nil
  ) {
    self.init()
    encodedSignature = signature.encodedSignature
    self.productId = productId
    nonce = signature.nonce
    timestamp = signature.timestamp
    keyId = signature.keyId
    self.offerIdentifier = offerIdentifier
    self.appAccountToken = appAccountToken
  }
}
