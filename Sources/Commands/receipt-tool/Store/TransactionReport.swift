// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import Storefront

struct TransactionReport {
  let transaction: PaymentTransaction

  init(_ transaction: PaymentTransaction) { self.transaction = transaction }

  func text() -> String {
    var lines = [
      "\(state)  \(transaction.payment.productIdentifier)"
        + (transaction.payment.quantity == 1 ? "" : "  \(transaction.payment.quantity) of it")
    ]
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      lines.append("  " + name + String(repeating: " ", count: max(1, 14 - name.count)) + value)
    }
    add("in the queue", transaction.id.rawValue)
    add("transaction", transaction.transactionIdentifier)
    add("original", originalIdentifier)
    add("sold", transaction.transactionDate?.iso8601)
    add("username", transaction.payment.applicationUsername)
    add("error", transaction.error?.description)
    return lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n"
  }

  func jsonLine(receipt: [UInt8]? = nil) -> [UInt8] {
    Output.StoreTransaction(
      id: transaction.id.rawValue, state: state, productId: transaction.payment.productIdentifier,
      quantity: Int64(transaction.payment.quantity),
      applicationUsername: transaction.payment.applicationUsername,
      transactionId: transaction.transactionIdentifier, originalTransactionId: originalIdentifier,
      purchaseDate: transaction.transactionDate,
      errorCode: transaction.error.map { Int64($0.code.rawValue) }, message: transaction.error?.message,
      receipt: receipt.map { String(decoding: $0, as: UTF8.self) }
    ).line()
  }

  static func write(_ transactions: [PaymentTransaction], json: Bool, _ colors: Colors) throws {
    for transaction in transactions { try TransactionReport(transaction).write(json: json, colors) }
  }

  func write(json: Bool, _ colors: Colors, receipt: [UInt8]? = nil) throws {
    try writeAll(json ? jsonLine(receipt: receipt) : Array(colors.painted(text()).utf8))
  }

  private var state: String {
    switch transaction.transactionState {
    case .purchasing: "purchasing"
    case .purchased: "purchased"
    case .failed: "failed"
    case .restored: "restored"
    }
  }

  private var originalIdentifier: String? {
    guard let original = transaction.storeTransaction?.originalTransactionIdentifier,
      original != transaction.transactionIdentifier
    else { return nil }
    return original
  }
}

extension JSONOption {
  func write(_ notifications: [SignedNotification], signed: Bool = false) throws {
    for notification in notifications {
      let (type, subtype) = (notification.type.rawValue, notification.subtype?.rawValue)
      let (number, account) = (notification.number, notification.account)
      try write(
        Output.StoreNotification(
          number: number, notificationType: type, subtype: subtype,
          notificationUUID: notification.uuid.rawValue, signedDate: notification.signedDate, account: account,
          transactionId: notification.transactionIdentifier,
          originalTransactionId: notification.originalTransactionIdentifier,
          signedPayload: signed ? notification.signedPayload : nil),
        "\(number)  \(notification.signedDate.iso8601)  \(type)\(subtype.map { " \($0)" } ?? "")  \(account)  "
          + notification.transactionIdentifier)
    }
  }
}
