// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import ReceiptCrypto

extension PlayPurchase {
  /// Sets the party that ended the renewal, and the date; without a party, the subscription renews.
  mutating func cancel(by canceller: Canceller?, at date: Timestamp?) {
    self.canceller = canceller
    cancellationDate = date
  }

  mutating func acknowledge() {
    isAcknowledged = true
    acknowledgementDeadline = nil
  }

  var isPaused: Bool { hasPaused == true }

  /// The next date on which it needs processing: the end of the time to acknowledge it, or the beginning of a pause.
  var deadline: Timestamp? {
    [acknowledgementDeadline, isPaused ? nil : pauseDate].compactMap(\.self).min()
  }

  /// Ends the pause, or cancels the planned one.
  mutating func endPause() {
    pauseDate = nil
    resumeDate = nil
    hasPaused = nil
  }

  /// The orders that were charged for.
  var paidOrders: [PlayOrder] { orders.filter { $0.transactionId != nil } }

  /// The identifier of the next order: that of the first, followed by a number.
  var nextOrderId: String {
    let first = orders.first?.orderId ?? ""
    return orders.isEmpty ? first : "\(first)..\(orders.count - 1)"
  }
}

extension PlayMessage {
  /// A message is pushed about a thousand times in its week, and each attempt rewrites the record.
  static let maximumAttemptCount = 128

  /// A new message; its number is 0.
  init(_ member: String, _ content: JSONMembers, of packageName: String, at date: Timestamp) {
    // Unique even after the store was reset.
    messageId = "1" + Random.bytes(15).map { String($0 % 10) }.joined()
    publishDate = date
    let notification: JSONMembers = [
      "version": "1.0", "packageName": packageName, "eventTimeMillis": String(date.wholeMilliseconds),
      member: content,
    ]
    self.notification = notification.json
  }

  mutating func add(_ attempt: Attempt) {
    attempts = attempts.suffix(Self.maximumAttemptCount - 1) + [attempt]
  }
}
