// SPDX-License-Identifier: Apache-2.0

import CommandOutput
import ReceiptBytes
import ReceiptCodec
import Storefront

extension OutputOptions {
  func write(_ transactions: [PaymentTransaction], receipt: [UInt8]? = nil) throws {
    for transaction in transactions {
      let (id, payment, state) = (transaction.id.rawValue, transaction.payment, transaction.transactionState)
      let original = transaction.storeTransaction?.originalTransactionIdentifier
      let another = original == transaction.transactionIdentifier ? nil : original
      var report = ReportText(
        "\(state)  \(payment.productIdentifier)"
          + (payment.quantity == 1 ? "" : "  \(payment.quantity) of it"), column: 14)
      report.add("in the queue", id)
      report.add("transaction", transaction.transactionIdentifier)
      report.add("original", another)
      report.add("sold", transaction.transactionDate?.iso8601)
      report.add("username", payment.applicationUsername)
      report.add("error", transaction.error?.description)
      try write(
        Output.StoreTransaction(
          id: id, state: "\(state)", productId: payment.productIdentifier, quantity: Int64(payment.quantity),
          applicationUsername: payment.applicationUsername,
          transactionId: transaction.transactionIdentifier, originalTransactionId: another,
          purchaseDate: transaction.transactionDate,
          errorCode: transaction.error.map { Int64($0.code.rawValue) }, message: transaction.error?.message,
          receipt: receipt.map { String(decoding: $0, as: UTF8.self) }),
        report.lines)
    }
  }

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
