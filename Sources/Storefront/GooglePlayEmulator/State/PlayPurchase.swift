// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Google Play's own data about a purchase. Dates, prices, renewals and refunds are in the engine.
///
/// The engine has one subscription per customer and group. Here it is a chain of purchases: an upgrade, a deferred
/// replacement and a sign-up after a cancellation each begin another purchase, with another token.
struct PlayPurchase: JSONObject, Sendable {
  /// The state of the payment.
  enum State: String, CaseIterable {
    /// The customer was asked, and the outcome is not known yet.
    case requested
    /// The payment is outstanding.
    case pending
    /// The outstanding payment was cancelled.
    case canceled
    /// It was paid for.
    case purchased
  }

  /// The party that ended the renewal of a subscription.
  enum Canceller: String, CaseIterable { case user, developer, system, replacement }

  var token = ""
  var account = ""
  var productId = ""
  var isSubscription = false
  var stateName = State.requested.rawValue
  /// The identifier of the payment request, for a purchase that the engine has not sold yet.
  var requestId: String?
  var originalTransactionId: String?
  var orders: [PlayOrder] = []
  var purchaseDate = Timestamp(millisecondsSince1970: 0)
  /// The date by which it must be acknowledged; `nil` once it was.
  var acknowledgementDeadline: Timestamp?
  var isAcknowledged = false
  var isConsumed = false
  var isTest = false
  var quantity: Int64 = 1
  var developerPayload: String?
  var obfuscatedAccountId: String?
  var obfuscatedProfileId: String?
  /// The purchase that this one replaces.
  var linkedToken: String?
  var cancellerName: String?
  var cancellationDate: Timestamp?
  /// The date on which the subscription pauses or paused, which is the end of the period; `nil` without a pause.
  private(set) var pauseDate: Timestamp?
  /// The date on which it resumes by itself. The engine has no pauses; its period is extended until this date.
  private(set) var resumeDate: Timestamp?
  private(set) var isPaused = false
  /// The date on which another purchase replaced this one.
  var endDate: Timestamp?
  /// The type of the last notification about it.
  var lastNotification: Int64?
  var unknownFields: [JSONMember] = []

  var state: State {
    get { State(rawValue: stateName) ?? .purchased }
    set { stateName = newValue.rawValue }
  }

  var canceller: Canceller? {
    get { cancellerName.flatMap { Canceller(rawValue: $0) } }
    set { cancellerName = newValue?.rawValue }
  }

  /// The next date on which it needs processing: the end of the time to acknowledge it, or the beginning of a pause.
  var deadline: Timestamp? {
    [acknowledgementDeadline, isPaused ? nil : pauseDate].compactMap(\.self).min()
  }

  /// Plans a pause from the end of the period.
  mutating func planPause(from date: Timestamp, to end: Timestamp) {
    pauseDate = date
    resumeDate = end
  }

  /// Begins the planned pause.
  mutating func beginPause() { isPaused = true }

  /// Ends the pause, or cancels the planned one.
  mutating func endPause() {
    pauseDate = nil
    resumeDate = nil
    isPaused = false
  }

  /// The orders that were charged for.
  var paidOrders: [PlayOrder] { orders.filter { $0.transactionId != nil } }

  /// The identifier of the next order: that of the first, followed by a number.
  var nextOrderId: String {
    let first = orders.first?.orderId ?? ""
    return orders.isEmpty ? first : "\(first)..\(orders.count - 1)"
  }

  enum Field: String, CaseIterable {
    case token, account, productId, isSubscription, stateName, requestId, originalTransactionId, orders,
      purchaseDate, acknowledgementDeadline, isAcknowledged, isConsumed, isTest, quantity, developerPayload,
      obfuscatedAccountId, obfuscatedProfileId, linkedToken, cancellerName, cancellationDate, pauseDate,
      resumeDate,
      isPaused, endDate, lastNotification
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.token, .account, .productId])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .token: try coder.code(&token)
    case .account: try coder.code(&account)
    case .productId: try coder.code(&productId)
    case .isSubscription: try coder.code(&isSubscription)
    case .stateName: try coder.code(&stateName)
    case .requestId: try coder.code(&requestId)
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .orders: try coder.code(&orders)
    case .purchaseDate: try coder.code(&purchaseDate)
    case .acknowledgementDeadline: try coder.code(&acknowledgementDeadline)
    case .isAcknowledged: try coder.code(&isAcknowledged)
    case .isConsumed: try coder.code(&isConsumed)
    case .isTest: try coder.code(&isTest)
    case .quantity: try coder.code(&quantity)
    case .developerPayload: try coder.code(&developerPayload)
    case .obfuscatedAccountId: try coder.code(&obfuscatedAccountId)
    case .obfuscatedProfileId: try coder.code(&obfuscatedProfileId)
    case .linkedToken: try coder.code(&linkedToken)
    case .cancellerName: try coder.code(&cancellerName)
    case .cancellationDate: try coder.code(&cancellationDate)
    case .pauseDate: try coder.code(&pauseDate)
    case .resumeDate: try coder.code(&resumeDate)
    case .isPaused: try coder.code(&isPaused, default: false)
    case .endDate: try coder.code(&endDate)
    case .lastNotification: try coder.code(&lastNotification)
    }
  }
}

/// An order: the purchase, or one of its renewals.
struct PlayOrder: JSONObject, Sendable {
  var orderId = ""
  /// The engine's transaction; `nil` if nothing was charged, as for a sign-up after a cancellation.
  var transactionId: String?
  var date = Timestamp(millisecondsSince1970: 0)
  /// `true` if it was refunded without being revoked.
  var isRefunded = false
  /// The source and reason of a refund with revocation: `voidedSource` and `voidedReason`. `nil` if there was no such
  /// refund.
  var voidedSource: Int64?
  var voidedReason: Int64?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case orderId, transactionId, date, isRefunded, voidedSource, voidedReason
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.orderId])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .orderId: try coder.code(&orderId)
    case .transactionId: try coder.code(&transactionId)
    case .date: try coder.code(&date)
    case .isRefunded: try coder.code(&isRefunded)
    case .voidedSource: try coder.code(&voidedSource)
    case .voidedReason: try coder.code(&voidedReason)
    }
  }
}
