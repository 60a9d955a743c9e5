// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A ``StoreTransaction`` as JSON. The receipt stays the bytes that the store signed.
struct WireTransaction: WireForm {
  var transactionIdentifier = ""
  var originalTransactionIdentifier = ""
  var transactionDate = Timestamp(millisecondsSince1970: 0)
  var payment = PaymentRecord()
  var requestIdentifier: String?
  var receipt = Base64Bytes([])
  var downloads: [WireContent]?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case transactionIdentifier, originalTransactionIdentifier, transactionDate, payment, requestIdentifier,
      receipt, downloads
  }
  static let fieldNames = JSONFieldNames<Field>(required: [
    .transactionIdentifier, .originalTransactionIdentifier, .transactionDate, .payment, .receipt,
  ])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transactionIdentifier: try coder.code(&transactionIdentifier)
    case .originalTransactionIdentifier: try coder.code(&originalTransactionIdentifier)
    case .transactionDate: try coder.code(&transactionDate)
    case .payment: try coder.code(&payment)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .receipt: try coder.code(&receipt)
    case .downloads: try coder.code(&downloads)
    }
  }
}

extension WireTransaction {
  init(_ value: StoreTransaction) {
    transactionIdentifier = value.transactionIdentifier
    originalTransactionIdentifier = value.originalTransactionIdentifier
    transactionDate = value.transactionDate
    payment = PaymentRecord(value.payment)
    requestIdentifier = value.requestIdentifier
    receipt = Base64Bytes(value.receipt)
    downloads = value.downloads.isEmpty ? nil : value.downloads.map { WireContent($0) }
  }

  var value: StoreTransaction {
    StoreTransaction(
      transactionIdentifier: transactionIdentifier,
      originalTransactionIdentifier: originalTransactionIdentifier, transactionDate: transactionDate,
      payment: payment.value, requestIdentifier: requestIdentifier, receipt: receipt.bytes,
      downloads: (downloads ?? []).map(\.value))
  }
}

/// A ``RestoredTransaction`` as JSON.
struct WireRestoredTransaction: WireForm {
  var transaction = WireTransaction()
  var original = WireTransaction()
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transaction, original }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transaction: try coder.code(&transaction)
    case .original: try coder.code(&original)
    }
  }
}

extension WireRestoredTransaction {
  init(_ value: RestoredTransaction) {
    transaction = WireTransaction(value.transaction)
    original = WireTransaction(value.original)
  }

  var value: RestoredTransaction {
    RestoredTransaction(transaction: transaction.value, original: original.value)
  }
}
