// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A ``Payment`` as JSON: as a queue and a store keep it, and as they send it to each other.
struct PaymentRecord: WireForm, Hashable {
  var product = ""
  var quantity: Int64 = 1
  var requestData: Base64Bytes?
  var username: String?
  var offer: OfferRecord?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case product = "productIdentifier"
    case quantity, requestData
    case username = "applicationUsername"
    case offer
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.product, .quantity])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .product: try coder.code(&product)
    case .quantity: try coder.code(&quantity)
    case .requestData: try coder.code(&requestData)
    case .username: try coder.code(&username)
    case .offer: try coder.code(&offer)
    }
  }
}

extension PaymentRecord {
  init(_ value: Payment) {
    product = value.productIdentifier
    quantity = Int64(value.quantity)
    requestData = value.requestData.map { Base64Bytes($0) }
    username = value.applicationUsername
    offer = value.offer.map { OfferRecord($0) }
  }

  var value: Payment {
    var payment = MutablePayment(productIdentifier: product)
    payment.quantity = Int(clamping: quantity)
    payment.requestData = requestData?.bytes
    payment.applicationUsername = username
    payment.offer = offer?.value
    return Payment(payment)
  }

  /// The payment of a stored record, with the quantity that was stored.
  func payment(of place: @autoclosure () -> String) throws(PaymentQueueError) -> Payment {
    guard Int(exactly: quantity) != nil else {
      throw RecordFault.error("the quantity is larger than this machine's numbers", at: place())
    }
    return value
  }
}

/// A ``PaymentOffer`` as JSON: an object with exactly one of three members, the discriminator.
struct OfferRecord: JSONFieldValue, Sendable, Hashable {
  let value: PaymentOffer

  init(_ value: PaymentOffer) { self.value = value }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    let members = try Members(from: &json)
    switch (members.promotional, members.code, members.winBack) {
    case (let offer?, nil, nil): value = .promotional(offer.value)
    case (nil, let code?, nil): value = .code(code)
    case (nil, nil, let identifier?): value = .winBack(identifier)
    default: throw json.fieldFailure(.invalidValue, "expected exactly one of promotional, code and winBack.")
    }
  }

  func write(to json: inout JSONWriter) {
    var members = Members()
    switch value {
    case .promotional(let offer): members.promotional = PromotionalOfferRecord(offer)
    case .code(let code): members.code = code
    case .winBack(let identifier): members.winBack = identifier
    }
    members.write(to: &json)
  }

  private struct Members: JSONObject {
    var promotional: PromotionalOfferRecord?
    var code: String?
    var winBack: String?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case promotional, code, winBack }
    static let fieldNames = JSONFieldNames<Field>()

    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .promotional: try coder.code(&promotional)
      case .code: try coder.code(&code)
      case .winBack: try coder.code(&winBack)
      }
    }
  }
}

/// A ``PromotionalOfferRedemption`` as JSON.
struct PromotionalOfferRecord: WireForm {
  var identifier = ""
  var keyIdentifier = ""
  var nonce = ""
  var signature = Base64Bytes([])
  var timestamp: Int64 = 0
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case identifier, keyIdentifier, nonce, signature, timestamp }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

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

extension PromotionalOfferRecord {
  init(_ value: PromotionalOfferRedemption) {
    identifier = value.identifier
    keyIdentifier = value.keyIdentifier
    nonce = value.nonce
    signature = Base64Bytes(value.signature)
    timestamp = value.timestamp
  }

  var value: PromotionalOfferRedemption {
    PromotionalOfferRedemption(
      identifier: identifier, keyIdentifier: keyIdentifier, nonce: nonce, signature: signature.bytes,
      timestamp: timestamp)
  }
}
