// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored form of a payment.
struct PaymentRecord: JSONObject {
  var product = ""
  var quantity: Int64 = 0
  var requestData: Base64Bytes?
  var username: String?
  var offer: OfferRecord?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case product, quantity, requestData, username, offer }

  static let fieldNames = JSONFieldNames<Field>(required: [.product, .quantity])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .product: try coder.code(&product)
    case .quantity: try coder.code(&quantity)
    case .requestData: try coder.code(&requestData)
    case .username: try coder.code(&username)
    case .offer: try coder.code(&offer)
    }
  }

  init(_ payment: Payment) {
    product = payment.productIdentifier
    quantity = Int64(payment.quantity)
    requestData = payment.requestData.map { Base64Bytes($0) }
    username = payment.applicationUsername
    offer = payment.offer.map { OfferRecord($0) }
  }

  func payment(of place: @autoclosure () -> String) throws(PaymentQueueError) -> Payment {
    var payment = MutablePayment(productIdentifier: product)
    guard let quantity = Int(exactly: quantity) else {
      throw RecordFault.error("the quantity is larger than this machine's numbers", at: place())
    }
    payment.quantity = quantity
    payment.requestData = requestData?.bytes
    payment.applicationUsername = username
    payment.offer = try offer?.offer(of: place())
    return Payment(payment)
  }
}

/// The stored form of a payment's offer.
struct OfferRecord: JSONObject {
  var kind = ""
  var identifier = ""
  var keyIdentifier: String?
  var nonce: String?
  var signature: Base64Bytes?
  var timestamp: Int64?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case kind, identifier, keyIdentifier, nonce, signature, timestamp }

  static let fieldNames = JSONFieldNames<Field>(required: [.kind, .identifier])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .kind: try coder.code(&kind)
    case .identifier: try coder.code(&identifier)
    case .keyIdentifier: try coder.code(&keyIdentifier)
    case .nonce: try coder.code(&nonce)
    case .signature: try coder.code(&signature)
    case .timestamp: try coder.code(&timestamp)
    }
  }

  init(_ offer: PaymentOffer) {
    switch offer {
    case .code(let code):
      kind = "code"
      identifier = code
    case .winBack(let offer):
      kind = "win-back"
      identifier = offer
    case .promotional(let redemption):
      kind = "promotional"
      identifier = redemption.identifier
      keyIdentifier = redemption.keyIdentifier
      nonce = redemption.nonce
      signature = Base64Bytes(redemption.signature)
      timestamp = redemption.timestamp
    }
  }

  func offer(of place: @autoclosure () -> String) throws(PaymentQueueError) -> PaymentOffer {
    switch kind {
    case "code": return .code(identifier)
    case "win-back": return .winBack(identifier)
    case "promotional":
      guard let keyIdentifier, let nonce, let signature, let timestamp else {
        throw RecordFault.error("a promotional offer is incomplete", at: place())
      }
      return .promotional(
        PromotionalOfferRedemption(
          identifier: identifier, keyIdentifier: keyIdentifier, nonce: nonce, signature: signature.bytes,
          timestamp: timestamp))
    default: throw RecordFault.error("the kind of offer \"\(kind)\" is unknown", at: place())
    }
  }
}

/// Errors about damaged records.
enum RecordFault {
  static func error(_ message: String, at place: String) -> PaymentQueueError {
    PaymentQueueError(.corrupt, at: place, "A record is damaged: \(message). Restore it from a backup.")
  }
}
