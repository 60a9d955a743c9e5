// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A payment as a store keeps it. One with `requestData` is never kept: it is refused.
struct PaymentRecord: JSONObject, Sendable, Hashable {
  var productIdentifier = ""
  var quantity: Int64 = 1
  var applicationUsername: String?
  var offerCode: String?
  var winBackOffer: String?
  var promotionalOffer: PromotionalOfferRecord?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case productIdentifier, quantity, applicationUsername, offerCode, winBackOffer, promotionalOffer
  }
  static let fieldNames = JSONFieldNames<Field>()
  static var requiredFields: [Field] { [.productIdentifier, .quantity] }
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productIdentifier: try coder.code(&productIdentifier)
    case .quantity: try coder.code(&quantity)
    case .applicationUsername: try coder.code(&applicationUsername)
    case .offerCode: try coder.code(&offerCode)
    case .winBackOffer: try coder.code(&winBackOffer)
    case .promotionalOffer: try coder.code(&promotionalOffer)
    }
  }
}

struct PromotionalOfferRecord: JSONObject, Sendable, Hashable {
  var identifier = ""
  var keyIdentifier = ""
  var nonce = ""
  /// In base64.
  var signature = ""
  var timestamp: Int64 = 0
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case identifier, keyIdentifier, nonce, signature, timestamp }
  static let fieldNames = JSONFieldNames<Field>()
  static var requiredFields: [Field] { Field.allCases }
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .identifier: try coder.code(&identifier)
    case .keyIdentifier: try coder.code(&keyIdentifier)
    case .nonce: try coder.code(&nonce)
    case .signature: try coder.code(&signature)
    case .timestamp: try coder.code(&timestamp)
    }
  }
}

extension PaymentRecord {
  init(_ payment: Payment) {
    productIdentifier = payment.productIdentifier
    quantity = Int64(payment.quantity)
    applicationUsername = payment.applicationUsername
    switch payment.offer {
    case .code(let code): offerCode = code
    case .winBack(let identifier): winBackOffer = identifier
    case .promotional(let redemption):
      var record = PromotionalOfferRecord()
      record.identifier = redemption.identifier
      record.keyIdentifier = redemption.keyIdentifier
      record.nonce = redemption.nonce
      record.signature = Base64.encodeToString(redemption.signature)
      record.timestamp = redemption.timestamp
      promotionalOffer = record
    case nil: break
    }
  }

  var payment: Payment {
    var payment = MutablePayment(productIdentifier: productIdentifier)
    payment.quantity = Int(quantity)
    payment.applicationUsername = applicationUsername
    if let offerCode {
      payment.offer = .code(offerCode)
    } else if let winBackOffer {
      payment.offer = .winBack(winBackOffer)
    } else if let promotionalOffer {
      payment.offer = .promotional(
        PromotionalOfferRedemption(
          identifier: promotionalOffer.identifier, keyIdentifier: promotionalOffer.keyIdentifier,
          nonce: promotionalOffer.nonce,
          // Written by this type alone.
          signature: (try? Base64.decode(Array(promotionalOffer.signature.utf8), part: "signature")) ?? [],
          timestamp: promotionalOffer.timestamp))
    }
    return Payment(payment)
  }
}
