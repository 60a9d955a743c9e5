// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront

/// A purchase whose order was refunded and revoked, as `voidedpurchases.list` shows it.
struct PlayVoidedPurchase: JSONObject, Sendable {
  var token = ""
  var orderId = ""
  var purchaseDate = Timestamp(millisecondsSince1970: 0)
  var voidedDate = Timestamp(millisecondsSince1970: 0)
  var source: Int64 = 0
  var reason: Int64 = 0
  var isSubscription = false
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case token, orderId, purchaseDate, voidedDate, source, reason, isSubscription
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.token, .orderId])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .token: try coder.code(&token)
    case .orderId: try coder.code(&orderId)
    case .purchaseDate: try coder.code(&purchaseDate)
    case .voidedDate: try coder.code(&voidedDate)
    case .source: try coder.code(&source)
    case .reason: try coder.code(&reason)
    case .isSubscription: try coder.code(&isSubscription)
    }
  }
}

/// A Pub/Sub message, and the attempts to push it.
struct PlayMessage: JSONObject, Sendable {
  /// An attempt to push a message.
  struct Attempt: JSONObject, Sendable {
    var date = Timestamp(millisecondsSince1970: 0)
    /// The status of the answer; absent if there was no answer.
    var status: Int64?
    /// The reason that there was no answer.
    var failure: String?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case date, status, failure }
    static let fieldNames = JSONFieldNames<Field>(required: [.date])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .date: try coder.code(&date)
      case .status: try coder.code(&status)
      case .failure: try coder.code(&failure)
      }
    }
  }

  var number: Int64 = 0
  var messageId = ""
  var publishDate = Timestamp(millisecondsSince1970: 0)
  /// The `DeveloperNotification`.
  var notification = JSONValue.null
  /// The latest attempts, at most ``maximumAttemptCount``. A message is pushed about a thousand times in its week, and
  /// each attempt rewrites the record.
  private(set) var attempts: [Attempt] = []
  static let maximumAttemptCount = 128

  mutating func add(_ attempt: Attempt) {
    attempts = attempts.suffix(Self.maximumAttemptCount - 1) + [attempt]
  }

  /// The date of the next attempt; `nil` after the last one.
  var nextAttempt: Timestamp?
  /// The number of remaining pushes after the message was accepted.
  var duplicates: Int64 = 0
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case number, messageId, publishDate, notification, attempts, nextAttempt, duplicates
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.number, .messageId])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .number: try coder.code(&number)
    case .messageId: try coder.code(&messageId)
    case .publishDate: try coder.code(&publishDate)
    case .notification: try coder.code(&notification)
    case .attempts: try coder.code(&attempts)
    case .nextAttempt: try coder.code(&nextAttempt)
    case .duplicates: try coder.code(&duplicates)
    }
  }
}

/// The position in the engine's events, counts, and the app's key.
struct PlayHeader: JSONObject, Sendable {
  static let key = "play"

  /// The number of the last processed event.
  var followed: Int64 = 0
  var messageCount: Int64 = 0
  var voidedCount: Int64 = 0
  /// The app's private key, PKCS#8 in PEM; generated at first use.
  var appKey: String?
  /// The number of times that each new message is pushed again after it was accepted.
  var duplicates: Int64 = 0
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case followed, messageCount, voidedCount, appKey, duplicates }
  static let fieldNames = JSONFieldNames<Field>()
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .followed: try coder.code(&followed)
    case .messageCount: try coder.code(&messageCount)
    case .voidedCount: try coder.code(&voidedCount)
    case .appKey: try coder.code(&appKey)
    case .duplicates: try coder.code(&duplicates)
    }
  }
}
