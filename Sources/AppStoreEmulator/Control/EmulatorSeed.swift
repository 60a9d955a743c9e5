// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptTesting

/// Additions to the state, read from JSON. All members are optional:
///
/// ```json
/// {
///   "reset": true, "sample": true, "pendingAnswers": 2, "notificationURL": null, "stateOfUploads": "PENDING",
///   "hasPassedPerformanceTest": false,
///   "transactions": [{"transaction": {"transactionId": "1"}, "customer": "a", "orderId": "W1"}],
///   "subscriptions": [{"transaction": {"transactionId": "2"}, "renewalInfo": {}, "status": 1, "customer": "a"}],
///   "appTransactions": [{"appTransaction": {"appTransactionId": "9"}, "customer": "a"}],
///   "refunds": [{"transactionId": "1", "date": 1760000000000}],
///   "notifications": [{"notification": {"notificationType": "TEST"}, "transactionIds": ["1"],
///     "sendAttempts": [{"attemptDate": 1760000000000, "sendAttemptResult": "SUCCESS"}]}],
///   "histories": [{"count": 10000, "customer": "big", "transaction": {"transactionId": "100000"}}],
///   "groups": [{"groupId": "7", "groupType": "TEAM", "roles": [{"productId": "p", "role": "MEMBER"}],
///     "members": ["9"]}]
/// }
/// ```
///
/// Payloads have Apple's field names; `bundleId`, `environment` and `appAppleId` default to the app's. `sample` adds
/// the receipts of `SampleReceipts`.
public struct EmulatorSeed: Sendable {
  private typealias Change = @Sendable (inout EmulatorState) -> Void

  private var changes: [Change] = []
  private let configuration: EmulatedAppStore.Configuration

  /// Reads a seed.
  ///
  /// - Throws: ``EmulatorControl/Failure``.
  public init(
    json: JSONValue, configuration: EmulatedAppStore.Configuration
  ) throws(EmulatorControl.Failure) {
    guard let members = json.object else { throw EmulatorControl.Failure("A seed is an object.") }
    self.configuration = configuration
    for member in members {
      switch member.name {
      case "reset": changes.append { $0 = EmulatorState() }
      case "sample": addSample()
      case "pendingAnswers":
        let count = Int(clamping: member.value.int64 ?? 0)
        changes.append { $0.pendingAnswers = max(0, count) }
      case "notificationURL":
        let url = member.value.string
        changes.append { $0.notificationURL = url }
      case "stateOfUploads":
        let state = member.value.string ?? "APPROVED"
        changes.append { $0.stateOfUploads = state }
      case "hasPassedPerformanceTest":
        let flag = member.value.flag ?? true
        changes.append { $0.hasPassedPerformanceTest = flag }
      default: try addList(member)
      }
    }
  }

  /// Adds the seed to a state.
  public func apply(to state: inout EmulatorState) {
    for change in changes { change(&state) }
  }

  private mutating func addList(_ member: JSONMember) throws(EmulatorControl.Failure) {
    guard let list = member.value.array else {
      throw EmulatorControl.Failure("There is no \(member.name) in a seed, or it is no list.")
    }
    for item in list {
      switch member.name {
      case "transactions": try addTransaction(item)
      case "subscriptions": try addSubscription(item)
      case "appTransactions": try addAppTransaction(item)
      case "refunds": try addRefund(item)
      case "notifications": try addNotification(item)
      case "histories": try addHistory(item)
      case "groups": try addGroup(item)
      default: throw EmulatorControl.Failure("There is no \(member.name) in a seed.")
      }
    }
  }

  private mutating func addSample() {
    var transaction = SampleReceipts.transaction
    var renewalInfo = SampleReceipts.renewalInfo
    var appTransaction = SampleReceipts.appTransaction
    transaction.bundleId = configuration.bundleId
    transaction.environment = configuration.environment
    transaction.appTransactionId = appTransaction.appTransactionId
    renewalInfo.environment = configuration.environment
    appTransaction.bundleId = configuration.bundleId
    appTransaction.receiptType = configuration.environment
    appTransaction.appAppleId = configuration.appAppleId
    changes.append { [transaction, renewalInfo, appTransaction] state in
      state.addSubscription(transaction, renewalInfo: renewalInfo, orderId: "W000001")
      state.add(appTransaction: appTransaction, customer: transaction.originalTransactionId)
    }
  }

  private mutating func addTransaction(_ item: JSONValue) throws(EmulatorControl.Failure) {
    let transaction = try transaction(item)
    let (customer, order) = (item["customer"]?.string, item["orderId"]?.string)
    changes.append { $0.add(transaction: transaction, customer: customer, orderId: order) }
  }

  private mutating func addSubscription(_ item: JSONValue) throws(EmulatorControl.Failure) {
    let transaction = try transaction(item)
    var renewalInfo = try decode(item["renewalInfo"]) { json throws(MalformedReceipt) in
      try JWSRenewalInfo(decoding: json)
    }
    renewalInfo.environment = renewalInfo.environment ?? configuration.environment
    renewalInfo.originalTransactionId =
      renewalInfo.originalTransactionId ?? transaction.originalTransactionId ?? transaction.transactionId
    renewalInfo.productId = renewalInfo.productId ?? transaction.productId
    let status = SubscriptionStatus(rawValue: item["status"]?.int64 ?? 1)
    let (customer, order) = (item["customer"]?.string, item["orderId"]?.string)
    changes.append { [renewalInfo] in
      $0.addSubscription(
        transaction, renewalInfo: renewalInfo, status: status, customer: customer, orderId: order)
    }
  }

  private mutating func addAppTransaction(_ item: JSONValue) throws(EmulatorControl.Failure) {
    var appTransaction = try decode(item["appTransaction"]) { json throws(MalformedReceipt) in
      try AppTransaction(decoding: json)
    }
    appTransaction.bundleId = appTransaction.bundleId ?? configuration.bundleId
    appTransaction.receiptType = appTransaction.receiptType ?? configuration.environment
    appTransaction.appAppleId = appTransaction.appAppleId ?? configuration.appAppleId
    let customer = item["customer"]?.string
    changes.append { [appTransaction] in $0.add(appTransaction: appTransaction, customer: customer) }
  }

  private mutating func addRefund(_ item: JSONValue) throws(EmulatorControl.Failure) {
    guard let identifier = item["transactionId"]?.string else {
      throw EmulatorControl.Failure("A refund has a transactionId.")
    }
    let date =
      item["date"]?.int64.map { Timestamp(millisecondsSince1970: Double($0)) } ?? configuration.clock()
    changes.append { $0.refund(identifier, at: date) }
  }

  private mutating func addNotification(_ item: JSONValue) throws(EmulatorControl.Failure) {
    var notification = try decode(item["notification"]) { json throws(MalformedReceipt) in
      try Notification(decoding: json)
    }
    notification.signedDate = notification.signedDate ?? configuration.clock()
    let identifiers = (item["transactionIds"]?.array ?? []).compactMap(\.string)
    let attempts = (item["sendAttempts"]?.array ?? []).map { attempt in
      EmulatorState.SendAttempt(
        date: attempt["attemptDate"]?.int64.map { Timestamp(millisecondsSince1970: Double($0)) }
          ?? configuration.clock(), result: attempt["sendAttemptResult"]?.string ?? "SUCCESS")
    }
    changes.append { [notification] in
      $0.add(notification: notification, transactionIds: identifiers, attempts: attempts)
    }
  }

  private mutating func addHistory(_ item: JSONValue) throws(EmulatorControl.Failure) {
    let transaction = try transaction(item)
    guard let count = item["count"]?.int64, 1...1_000_000 ~= count else {
      throw EmulatorControl.Failure("The count of a history is 1 to 1000000.")
    }
    let customer = item["customer"]?.string ?? transaction.transactionId ?? ""
    changes.append { $0.addHistory(of: transaction, count: Int(count), customer: customer) }
  }

  private mutating func addGroup(_ item: JSONValue) throws(EmulatorControl.Failure) {
    guard let groupId = item["groupId"]?.string else {
      throw EmulatorControl.Failure("A group has a groupId.")
    }
    let type = item["groupType"]?.string ?? "TEAM"
    let roles = (item["roles"]?.array ?? []).map {
      (productId: $0["productId"]?.string ?? "", role: $0["role"]?.string ?? "")
    }
    let members = (item["members"]?.array ?? []).compactMap(\.string)
    changes.append { $0.addGroup(groupId, type: type, roles: roles, members: members) }
  }

  private func transaction(_ item: JSONValue) throws(EmulatorControl.Failure) -> JWSTransaction {
    var transaction = try decode(item["transaction"]) { json throws(MalformedReceipt) in
      try JWSTransaction(decoding: json)
    }
    guard transaction.transactionId != nil else {
      throw EmulatorControl.Failure("A transaction has a transactionId.")
    }
    transaction.bundleId = transaction.bundleId ?? configuration.bundleId
    transaction.environment = transaction.environment ?? configuration.environment
    return transaction
  }

  private func decode<Payload>(
    _ json: JSONValue?, _ payload: ([UInt8]) throws(MalformedReceipt) -> Payload
  ) throws(EmulatorControl.Failure) -> Payload {
    do throws(MalformedReceipt) {
      return try payload((json ?? .object([])).encoded())
    } catch {
      throw EmulatorControl.Failure(error.description)
    }
  }
}
