// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Requests products.
struct ProductsMessage: JSONObject, Sendable {
  var productIdentifiers: [String] = []
  var preferredLocales: [WireLocale]?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case productIdentifiers, preferredLocales }
  static let fieldNames = JSONFieldNames<Field>(required: [.productIdentifiers])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productIdentifiers: try coder.code(&productIdentifiers)
    case .preferredLocales: try coder.code(&preferredLocales)
    }
  }
}

/// Sends a payment.
struct PurchaseMessage: JSONObject, Sendable {
  var requestIdentifier = ""
  var payment = PaymentRecord()
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case requestIdentifier, payment }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .payment: try coder.code(&payment)
    }
  }
}

/// Requests sales that were not finished.
struct UnfinishedMessage: JSONObject, Sendable {
  var after: String?
  var limit = WireLimit(1)
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case after, limit }
  static let fieldNames = JSONFieldNames<Field>(required: [.limit])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .after: try coder.code(&after)
    case .limit: try coder.code(&limit)
    }
  }
}

/// Finishes a transaction; the answer repeats the message.
struct FinishMessage: JSONObject, Sendable {
  var transactionIdentifier = ""
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transactionIdentifier }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transactionIdentifier: try coder.code(&transactionIdentifier)
    }
  }
}

/// Restores finished purchases.
struct RestoreMessage: JSONObject, Sendable {
  var requestIdentifier = ""
  var applicationUsername: String?
  var after: String?
  var limit = WireLimit(1)
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case requestIdentifier, applicationUsername, after, limit }
  static let fieldNames = JSONFieldNames<Field>(required: [.requestIdentifier, .limit])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .applicationUsername: try coder.code(&applicationUsername)
    case .after: try coder.code(&after)
    case .limit: try coder.code(&limit)
    }
  }
}

/// The greatest number of transactions in the answer: at least 1, clamped to ``StoreProtocolLimits/maximumPageCount``.
struct WireLimit: JSONFieldValue, Sendable, Hashable {
  let count: Int

  init(_ count: Int) { self.count = min(max(count, 1), StoreProtocolLimits.maximumPageCount) }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    let count = try Int64(from: &json)
    guard count >= 1 else { throw json.fieldFailure(.outOfRange, "expected a limit of at least 1.") }
    self.init(Int(clamping: count))
  }

  func write(to json: inout JSONWriter) { json.integer(Int64(count)) }
}
