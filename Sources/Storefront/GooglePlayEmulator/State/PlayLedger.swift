// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// The records of Google Play's own data, in the engine's storage.
struct PlayLedger: Sendable {
  let store: LocalStore
  private static let headerKey = "play"

  struct Change {
    var header: PlayHeader
    var records: [RecordChange] = []
    private(set) var purchases: [String: PlayPurchase] = [:]

    init(_ header: PlayHeader) { self.header = header }

    mutating func put(_ purchase: PlayPurchase) { purchases[purchase.token] = purchase }

    mutating func name(_ purchase: PlayPurchase, _ name: Name) {
      records.append(.put(.playTokens, key: name.key, value: Array(purchase.token.utf8)))
    }

    mutating func addOrder(
      of transactionId: String?, at date: Timestamp, until periodEnd: Timestamp?,
      to purchase: inout PlayPurchase
    ) {
      var order = PlayOrderRecord()
      order.orderId = purchase.orders.isEmpty ? Self.newOrderId() : purchase.nextOrderId
      order.transactionId = transactionId
      order.date = date
      order.periodEnd = periodEnd
      purchase.orders.append(order)
      name(purchase, .order(order.orderId))
      if let transactionId { name(purchase, .transaction(transactionId)) }
    }

    /// A new order identifier: `GPA.` and 17 digits in groups.
    private static func newOrderId() -> String {
      let digits = Random.bytes(17).map { String($0 % 10) }
      func group(_ range: Range<Int>) -> String { digits[range].joined() }
      return "GPA.\(group(0..<4))-\(group(4..<8))-\(group(8..<12))-\(group(12..<17))"
    }
  }

  /// A new purchase token: 24 lower-case letters, a dot, and a part that begins as in Google's tokens.
  static func newToken() -> String {
    let letters = Random.bytes(24).map { UInt8(ascii: "a") + $0 % 16 }
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let rest = Random.bytes(80).map { alphabet[Int($0 & 63)] }
    return String(decoding: letters, as: UTF8.self) + ".AO-J1O" + String(decoding: rest, as: UTF8.self)
  }

  // MARK: - Reading

  func header() async throws(LocalStoreError) -> PlayHeader {
    try await row(Self.headerKey, in: .playHeader) ?? PlayHeader()
  }

  func purchase(token: String) async throws(LocalStoreError) -> PlayPurchase? {
    try await row(token, in: .playPurchases)
  }

  func purchase(_ name: Name) async throws(LocalStoreError) -> PlayPurchase? {
    guard let bytes = try await store.value(of: name.key, in: .playTokens) else { return nil }
    return try await purchase(token: String(decoding: bytes, as: UTF8.self))
  }

  /// The purchases with a deadline, ordered by date.
  func deadlines(limit: Int) async throws(LocalStoreError) -> [(date: Timestamp, token: String)] {
    try await store.records(in: .playDeadlines, limit: limit).map { record in
      let digits = record.key.prefix { $0 != "/" }
      return (
        Timestamp(millisecondsSince1970: Double(digits) ?? 0), String(decoding: record.value, as: UTF8.self)
      )
    }
  }

  func voided(
    after key: String?, limit: Int
  ) async throws(LocalStoreError) -> [(key: String, record: PlayVoidedPurchase)] {
    try await list(.playVoided, after: key, limit: limit)
  }

  func externalTransaction(_ id: String) async throws(LocalStoreError) -> ExternalTransaction? {
    try await row(id, in: .playExternal)
  }

  /// Returns `true` if the transaction has a partial refund with this identifier.
  func hasRefund(_ refundId: String, of id: String) async throws(LocalStoreError) -> Bool {
    try await store.value(of: StoreKey.joined(id, refundId), in: .playExternal) != nil
  }

  func messages(after number: Int64, limit: Int) async throws(LocalStoreError) -> [PlayMessage] {
    try await list(.playMessages, after: StoreKey.number(number), limit: limit).map(\.record)
  }

  private func list<Record: JSONObject>(
    _ collection: RecordCollection, after key: String?, limit: Int
  ) async throws(LocalStoreError) -> [(key: String, record: Record)] {
    try await store.records(in: collection, after: key, limit: limit).map { record throws(LocalStoreError) in
      (record.key, try StoredRecords.decode(record, in: collection))
    }
  }

  /// The message to push next, and its due date.
  func nextMessage() async throws(LocalStoreError) -> (date: Timestamp, message: PlayMessage)? {
    guard let due = try await store.records(in: .playDueMessages, limit: 1).first else { return nil }
    let number = String(due.key.drop { $0 != "/" }.dropFirst())
    guard let message: PlayMessage = try await row(number, in: .playMessages) else {
      throw LocalStoreError(.corrupt, at: "play-due-messages/\(due.key)", "The message is not stored.")
    }
    return (Timestamp(millisecondsSince1970: Double(due.key.prefix { $0 != "/" }) ?? 0), message)
  }

  private func row<Record: JSONObject>(
    _ key: String, in collection: RecordCollection
  ) async throws(LocalStoreError) -> Record? {
    guard let bytes = try await store.value(of: key, in: collection) else { return nil }
    return try StoredRecords.decode(StoredRecord(key: key, value: bytes), in: collection)
  }

  // MARK: - Writing

  private static func deadlineKey(_ date: Timestamp, _ token: String) -> String {
    StoreKey.joined(StoreKey.number(Int64(date.wholeMilliseconds)), token)
  }

  /// Commits a change, and updates the list of deadlines accordingly.
  func commit(_ change: Change) async throws(LocalStoreError) {
    var records = change.records
    for purchase in change.purchases.values.sorted(by: { $0.token < $1.token }) {
      let before = try await self.purchase(token: purchase.token)?.deadline
      if before != purchase.deadline {
        if let before {
          records.append(.remove(.playDeadlines, key: Self.deadlineKey(before, purchase.token)))
        }
        if let after = purchase.deadline {
          let key = Self.deadlineKey(after, purchase.token)
          records.append(.put(.playDeadlines, key: key, value: Array(purchase.token.utf8)))
        }
      }
      records.append(.put(.playPurchases, key: purchase.token, value: purchase.encodedJSON()))
    }
    records.append(.put(.playHeader, key: Self.headerKey, value: change.header.encodedJSON()))
    try await store.commit(records)
  }

  func put(_ purchase: PlayPurchase) async throws(LocalStoreError) {
    var change = Change(try await header())
    change.put(purchase)
    try await commit(change)
  }

  /// Stores an external transaction, and the identifier of its new partial refund.
  func put(_ transaction: ExternalTransaction, refundId: String? = nil) async throws(LocalStoreError) {
    let id = transaction.externalTransactionId ?? ""
    var records: [RecordChange] = [.put(.playExternal, key: id, value: transaction.encodedJSON())]
    if let refundId {
      records.append(.put(.playExternal, key: StoreKey.joined(id, refundId), value: []))
    }
    try await store.commit(records)
  }

  func record(
    _ attempt: PlayMessage.Attempt, of message: PlayMessage, due date: Timestamp, next: Timestamp?
  ) async throws(LocalStoreError) {
    var message = message
    message.add(attempt)
    message.nextAttempt = next
    var records: [RecordChange] = [
      .put(.playMessages, key: StoreKey.number(message.number), value: message.encodedJSON()),
      .remove(.playDueMessages, key: StoreKey.dated(date, message.number)),
    ]
    if let next {
      records.append(.put(.playDueMessages, key: StoreKey.dated(next, message.number), value: []))
    }
    try await store.commit(records)
  }
}

extension PlayLedger.Name {
  var key: String {
    switch self {
    case .transaction(let id): StoreKey.joined("transaction", id)
    case .order(let id): StoreKey.joined("order", id)
    case .request(let account, let id): StoreKey.joined("request", account, id)
    case .current(let id): StoreKey.joined("current", id)
    }
  }
}

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
  var paidOrders: [PlayOrderRecord] { orders.filter { $0.transactionId != nil } }

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
