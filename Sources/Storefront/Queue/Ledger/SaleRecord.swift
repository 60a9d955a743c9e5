// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored form of a sale, without the receipt, which is stored separately and read only for delivery.
struct SaleRecord: JSONObject {
  var transaction = ""
  var original = ""
  var date = Timestamp(millisecondsSince1970: 0)
  /// Absent if it is the payment that was added.
  var payment: PaymentRecord?
  var request: String?
  var downloads: [WireContent]?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transaction, original, date, payment, request, downloads }

  static let fieldNames = JSONFieldNames<Field>(required: [.transaction, .original, .date])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transaction: try coder.code(&transaction)
    case .original: try coder.code(&original)
    case .date: try coder.code(&date)
    case .payment: try coder.code(&payment)
    case .request: try coder.code(&request)
    case .downloads: try coder.code(&downloads)
    }
  }

  init(_ sale: StoreTransaction, of payment: Payment) {
    transaction = sale.transactionIdentifier
    original = sale.originalTransactionIdentifier
    date = Self.writable(sale.transactionDate)
    self.payment = sale.payment == payment ? nil : PaymentRecord(sale.payment)
    request = sale.requestIdentifier
    downloads = sale.downloads.isEmpty ? nil : sale.downloads.map { WireContent($0) }
  }

  func sale(
    of payment: Payment, at place: @autoclosure () -> String
  ) throws(PaymentQueueError) -> StoreTransaction {
    return StoreTransaction(
      transactionIdentifier: transaction, originalTransactionIdentifier: original, transactionDate: date,
      payment: try self.payment?.payment(of: place()) ?? payment, requestIdentifier: request, receipt: [],
      downloads: (downloads ?? []).map(\.value))
  }

  /// A sale with an unrepresentable date must not be lost: the date is clamped.
  private static func writable(_ date: Timestamp) -> Timestamp {
    let time = date.millisecondsSince1970
    let limit = Timestamp.greatestMagnitude
    return Timestamp(millisecondsSince1970: time.isNaN ? 0 : min(max(time, -limit), limit))
  }
}
