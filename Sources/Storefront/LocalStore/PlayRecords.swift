// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// What only Google Play knows about purchases, kept beside them: it is dumped, loaded and removed with them.
extension RecordCollection {
  /// Purchases, by purchase token.
  package static let playPurchases = RecordCollection(rawValue: "play-purchases")
  /// The purchase tokens of transactions, orders, requests, and of the current purchase of each subscription.
  package static let playTokens = RecordCollection(rawValue: "play-tokens")
  /// The purchases that must be acknowledged, by the date until when.
  package static let playDeadlines = RecordCollection(rawValue: "play-deadlines")
  /// Voided purchases, by date.
  package static let playVoided = RecordCollection(rawValue: "play-voided")
  /// Pub/Sub messages with the attempts to push them, by number.
  package static let playMessages = RecordCollection(rawValue: "play-messages")
  /// The messages to be pushed, by the date of the next attempt and number.
  package static let playDueMessages = RecordCollection(rawValue: "play-due-messages")
  /// How far the store's events were followed, counts, and the app's key.
  package static let playHeader = RecordCollection(rawValue: "play-header")

  static let ofPlay: [RecordCollection] = [
    .playPurchases, .playTokens, .playDeadlines, .playVoided, .playMessages, .playDueMessages, .playHeader,
  ]
}

extension LocalStore {
  /// Moves the end of the current period of a subscription to another date, by which it renews from then on; to now where
  /// that date has passed.
  ///
  /// - Returns: `RENEWAL_EXTENDED`.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  package func postpone(
    _ originalTransactionIdentifier: String, to end: Timestamp
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.postpone(originalTransactionIdentifier, to: end, at: now)
    }
  }
}
