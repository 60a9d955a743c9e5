// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import Storefront

/// Prints a transaction of a queue.
struct TransactionReport {
  let transaction: PaymentTransaction

  init(_ transaction: PaymentTransaction) { self.transaction = transaction }

  /// Several lines of human-readable text.
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

  /// One JSON object and a line feed.
  ///
  /// Absent fields are left out.
  func jsonLine(receipt: [UInt8]? = nil) -> [UInt8] {
    var object = JSONWriter(.storeTransaction)
    object.member("id", transaction.id.rawValue)
    object.member("state", state)
    object.member("productId", transaction.payment.productIdentifier)
    object.member("quantity", Int64(transaction.payment.quantity))
    object.member("applicationUsername", transaction.payment.applicationUsername)
    object.member("transactionId", transaction.transactionIdentifier)
    object.member("originalTransactionId", originalIdentifier)
    object.member("purchaseDate", transaction.transactionDate)
    object.member("errorCode", transaction.error.map { Int64($0.code.rawValue) })
    object.member("message", transaction.error?.message)
    object.member("receipt", receipt.map { String(decoding: $0, as: UTF8.self) })
    return object.line()
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

/// Prints the notifications of an operation.
enum NotificationReport {
  static func write(_ notifications: [SignedNotification], json: Bool, signed: Bool = false) throws {
    for notification in notifications {
      try writeAll(json ? jsonLine(notification, signed: signed) : Array(line(notification).utf8))
    }
  }

  private static func line(_ notification: SignedNotification) -> String {
    let event = [notification.type.rawValue, notification.subtype?.rawValue].compactMap { $0 }
    return ShownText.plain(
      "\(notification.number)  \(notification.signedDate.iso8601)  \(event.joined(separator: " "))  "
        + "\(notification.account)  \(notification.transactionIdentifier)") + "\n"
  }

  private static func jsonLine(_ notification: SignedNotification, signed: Bool) -> [UInt8] {
    var object = JSONWriter(.storeNotification)
    object.member("number", notification.number)
    object.member("notificationType", notification.type.rawValue)
    object.member("subtype", notification.subtype?.rawValue)
    object.member("notificationUUID", notification.uuid.rawValue)
    object.member("signedDate", notification.signedDate)
    object.member("account", notification.account)
    object.member("transactionId", notification.transactionIdentifier)
    object.member("originalTransactionId", notification.originalTransactionIdentifier)
    if signed { object.member("signedPayload", notification.signedPayload) }
    return object.line()
  }
}
