// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Products, or an error.
struct ProductsAnswer: JSONObject, Sendable {
  var products: [WireProduct]?
  var invalidProductIdentifiers: [String]?
  var error: WireStoreError?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case products, invalidProductIdentifiers, error }
  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .products: try coder.code(&products)
    case .invalidProductIdentifiers: try coder.code(&invalidProductIdentifiers)
    case .error: try coder.code(&error)
    }
  }
}

/// The outcome of a payment.
struct PurchaseAnswer: JSONObject, Sendable {
  /// The identifier of the request, to detect the answer to another one.
  var requestIdentifier = ""
  var outcome = WireOutcome(rawValue: "")
  var transaction: WireTransaction?
  var error: WireStoreError?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case requestIdentifier, outcome, transaction, error }
  static let fieldNames = JSONFieldNames<Field>(required: [.requestIdentifier, .outcome])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .outcome: try coder.code(&outcome)
    case .transaction: try coder.code(&transaction)
    case .error: try coder.code(&error)
    }
  }
}

extension PurchaseAnswer {
  init(_ outcome: PurchaseOutcome, to requestIdentifier: String) {
    self.requestIdentifier = requestIdentifier
    switch outcome {
    case .purchased(let transaction):
      self.outcome = .purchased
      self.transaction = WireTransaction(transaction)
    case .pending: self.outcome = .pending
    case .failed(let error):
      self.outcome = .failed
      self.error = WireStoreError(error)
    }
  }

  /// - Throws: ``ReceiptCodec/MalformedReceipt`` for an unknown outcome, or one without its transaction or error.
  func value() throws(MalformedReceipt) -> PurchaseOutcome {
    switch (outcome, transaction, error) {
    case (.purchased, let transaction?, _): return .purchased(transaction.value)
    case (.pending, _, _): return .pending
    case (.failed, _, let error?): return .failed(error.value)
    case (.purchased, nil, _):
      throw MalformedReceipt(.missing, at: .jsonPath("$.transaction"), "What was purchased is not there.")
    case (.failed, _, nil):
      throw MalformedReceipt(.missing, at: .jsonPath("$.error"), "Why it failed is not there.")
    default:
      throw MalformedReceipt(
        .invalidValue, at: .jsonPath("$.outcome"), "The outcome is none of purchased, pending and failed.")
    }
  }
}

/// The kind of outcome.
struct WireOutcome: JSONEnumeration, Sendable, Hashable {
  let rawValue: String

  static let purchased = WireOutcome(rawValue: "purchased")
  static let pending = WireOutcome(rawValue: "pending")
  static let failed = WireOutcome(rawValue: "failed")
}

/// Sales that were not finished.
struct UnfinishedAnswer: JSONObject, Sendable {
  var transactions: [WireTransaction] = []
  var next: String?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transactions, next }
  static let fieldNames = JSONFieldNames<Field>(required: [.transactions])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transactions: try coder.code(&transactions)
    case .next: try coder.code(&next)
    }
  }
}

/// Restored purchases, or an error.
struct RestoreAnswer: JSONObject, Sendable {
  var requestIdentifier = ""
  var transactions: [WireRestoredTransaction]?
  var next: String?
  var error: WireStoreError?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case requestIdentifier, transactions, next, error }
  static let fieldNames = JSONFieldNames<Field>(required: [.requestIdentifier])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .transactions: try coder.code(&transactions)
    case .next: try coder.code(&next)
    case .error: try coder.code(&error)
    }
  }
}

/// A ``StoreError`` as JSON.
struct WireStoreError: WireForm {
  var code: Int64 = 0
  var message = ""
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case code, message }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .code: try coder.code(&code)
    case .message: try coder.code(&message)
    }
  }
}

extension WireStoreError {
  init(_ value: StoreError) {
    code = Int64(value.code.rawValue)
    message = value.message
  }

  var value: StoreError { StoreError(StoreError.Code(rawValue: Int(clamping: code)), message) }
}
