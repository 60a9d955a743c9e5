// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptTesting
internal import Storefront

/// Purchases and settings that are taken over into an emulated App Store, read from JSON. All members are optional:
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
///   "groups": [{"groupId": "7", "groupType": "ORGANIZATION", "roles": [{"productId": "p", "role": "ADMIN"}],
///     "members": ["9"]}]
/// }
/// ```
///
/// Payloads have Apple's field names; `bundleId`, `environment` and `appAppleId` default to the app's. `sample` adds
/// the purchases of `SampleReceipts`, at a time in which the subscription is active. A subscription goes on from what
/// its seed says: it renews, or expires, when it is due; a status that contradicts the dates is an error. Nobody is
/// notified of what a seed brings.
public struct EmulatorSeed: Sendable {
  private typealias Change = @Sendable (EmulatedAppStore) async throws -> Void

  private var changes: [Change] = []
  private var purchases: [LocalStore.ImportedPurchase] = []
  private let configuration: EmulatedAppStore.Configuration

  private static let names = [
    "reset", "sample", "pendingAnswers", "notificationURL", "stateOfUploads", "hasPassedPerformanceTest",
    "transactions", "subscriptions", "appTransactions", "refunds", "notifications", "histories", "groups",
  ]

  /// Reads a seed.
  ///
  /// - Throws: ``EmulatorControl/Failure``.
  public init(
    json: JSONValue, configuration: EmulatedAppStore.Configuration
  ) throws(EmulatorControl.Failure) {
    self.configuration = configuration
    let members = try ControlMembers(json, Self.names)
    if try members.flag("reset") == true {
      changes.append { store in
        try await store.purchases.removeAll()
        let url = store.state.withState { state in
          state = EmulatorState(notificationURL: state.defaultNotificationURL)
          return state.notificationURL
        }
        await store.purchases.setSendsNotifications(url != nil && store.sender != nil)
      }
    }
    if try members.flag("sample") == true { addSample() }
    try addSettings(members, json)
    for (index, item) in (try members.list("transactions") ?? []).enumerated() {
      let item = try ControlMembers(
        item, at: "transactions[\(index)]", ["transaction", "customer", "orderId"])
      purchases.append(try purchase(item))
    }
    for (index, item) in (try members.list("subscriptions") ?? []).enumerated() {
      try addSubscription(
        ControlMembers(
          item, at: "subscriptions[\(index)]",
          ["transaction", "renewalInfo", "status", "customer", "orderId"]))
    }
    for (index, item) in (try members.list("histories") ?? []).enumerated() {
      try addHistory(ControlMembers(item, at: "histories[\(index)]", ["count", "customer", "transaction"]))
    }
    for (index, item) in (try members.list("appTransactions") ?? []).enumerated() {
      try addAppTransaction(
        ControlMembers(item, at: "appTransactions[\(index)]", ["appTransaction", "customer"]))
    }
    for (index, item) in (try members.list("refunds") ?? []).enumerated() {
      try addRefund(ControlMembers(item, at: "refunds[\(index)]", ["transactionId", "date"]))
    }
    for (index, item) in (try members.list("notifications") ?? []).enumerated() {
      try addNotification(
        ControlMembers(
          item, at: "notifications[\(index)]", ["notification", "transactionIds", "sendAttempts"]))
    }
    for (index, item) in (try members.list("groups") ?? []).enumerated() {
      try addGroup(
        ControlMembers(item, at: "groups[\(index)]", ["groupId", "groupType", "roles", "members"]))
    }
    addPurchases()
  }

  /// Takes the seed over.
  ///
  /// - Throws: ``EmulatorControl/Failure`` that names what cannot be taken over.
  public func apply(to store: EmulatedAppStore) async throws(EmulatorControl.Failure) {
    do {
      for change in changes { try await change(store) }
    } catch {
      throw EmulatorControl.Failure("\(error)")
    }
  }

  /// Purchases so far come before what is added next.
  private mutating func addPurchases() {
    guard !purchases.isEmpty else { return }
    let added = purchases
    purchases = []
    changes.append { store in try await store.purchases.add(added) }
  }

  private mutating func add(_ change: @escaping Change) {
    addPurchases()
    changes.append(change)
  }

  private mutating func addSettings(_ members: ControlMembers, _ json: JSONValue) throws(EmulatorControl
    .Failure)
  {
    let pending = try members.integer("pendingAnswers")
    let url = try members.string("notificationURL")
    let uploads = try members.choice(
      "stateOfUploads", ["PENDING": "PENDING", "APPROVED": "APPROVED", "REJECTED": "REJECTED"])
    let hasPassed = try members.flag("hasPassedPerformanceTest")
    let setsURL = json["notificationURL"] != nil
    add { store in
      store.state.withState { state in
        if let pending { state.pendingAnswers = Int(clamping: max(0, pending)) }
        if setsURL { state.notificationURL = url }
        if let uploads { state.stateOfUploads = uploads }
        if let hasPassed { state.hasPassedPerformanceTest = hasPassed }
      }
      if setsURL { await store.purchases.setSendsNotifications(url != nil && store.sender != nil) }
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
    let now = configuration.clock()
    if !(SampleReceipts.signedAt..<SampleReceipts.expiresAt ~= now) {
      // Bought a day ago.
      let seconds =
        (now.millisecondsSince1970 - SampleReceipts.signedAt.millisecondsSince1970) / 1000 - 86_400
      transaction.move(by: seconds)
      renewalInfo.recentSubscriptionStartDate = transaction.purchaseDate
      renewalInfo.renewalDate = transaction.expiresDate
      appTransaction.originalPurchaseDate = transaction.purchaseDate
    }
    purchases.append(
      LocalStore.ImportedPurchase(
        transaction, renewalInfo: renewalInfo, status: .active, orderIdentifier: "W000001"))
    add { [appTransaction] store in
      try await store.purchases.add(
        appTransaction, customer: SampleReceipts.transaction.originalTransactionId)
    }
  }

  private mutating func addSubscription(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    var purchase = try purchase(item)
    let transaction = purchase.transaction
    var renewalInfo =
      try item.payload("renewalInfo") { (json) throws(MalformedReceipt) in try JWSRenewalInfo(decoding: json)
      }
      ?? JWSRenewalInfo()
    renewalInfo.environment = renewalInfo.environment ?? configuration.environment
    renewalInfo.originalTransactionId =
      renewalInfo.originalTransactionId ?? transaction.originalTransactionId ?? transaction.transactionId
    renewalInfo.productId = renewalInfo.productId ?? transaction.productId
    purchase.renewalInfo = renewalInfo
    purchase.status = try item.integer("status").map { SubscriptionStatus(rawValue: $0) }
    purchases.append(purchase)
  }

  private mutating func addHistory(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    let first = try purchase(item)
    let count = try item.required("count", item.integer)
    guard 1...1_000_000 ~= count else {
      throw EmulatorControl.Failure("\"\(item.path("count"))\" is 1 to 1000000.")
    }
    addPurchases()
    changes.append { store in
      try await store.purchases.addHistory(of: first.transaction, count: Int(count), customer: first.customer)
    }
  }

  private mutating func addAppTransaction(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    var appTransaction = try item.required("appTransaction") { (name) throws(EmulatorControl.Failure) in
      try item.payload(name) { (json) throws(MalformedReceipt) in try AppTransaction(decoding: json) }
    }
    appTransaction.bundleId = appTransaction.bundleId ?? configuration.bundleId
    appTransaction.receiptType = appTransaction.receiptType ?? configuration.environment
    appTransaction.appAppleId = appTransaction.appAppleId ?? configuration.appAppleId
    let customer = try item.string("customer")
    add { [appTransaction] store in
      try await store.purchases.add(appTransaction, customer: customer)
    }
  }

  private mutating func addRefund(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    let identifier = try item.required("transactionId", item.string)
    let date = try item.time("date") ?? configuration.clock()
    add { store in
      try await store.purchases.amend(identifier) {
        $0.revocationDate = date
        $0.revocationReason = $0.revocationReason ?? .other
      }
    }
  }

  private mutating func addNotification(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    var notification = try item.required("notification") { (name) throws(EmulatorControl.Failure) in
      try item.payload(name) { (json) throws(MalformedReceipt) in try Notification(decoding: json) }
    }
    notification.signedDate = notification.signedDate ?? configuration.clock()
    let identifiers = try item.strings("transactionIds") ?? []
    var attempts: [DeliveryRecord.Attempt] = []
    for (index, json) in (try item.list("sendAttempts") ?? []).enumerated() {
      let members = try ControlMembers(
        json, at: item.path("sendAttempts[\(index)]"), ["attemptDate", "sendAttemptResult"])
      var attempt = DeliveryRecord.Attempt()
      attempt.attemptDate = try members.time("attemptDate") ?? configuration.clock()
      attempt.sendAttemptResult = try members.string("sendAttemptResult") ?? "SUCCESS"
      attempts.append(attempt)
    }
    add { [notification, attempts] store in
      try await store.purchases.add(notification, about: identifiers, attempts: attempts)
    }
  }

  private mutating func addGroup(_ item: ControlMembers) throws(EmulatorControl.Failure) {
    let groupId = try item.required("groupId", item.string)
    let type = try item.string("groupType") ?? "ORGANIZATION"
    var roles: [(productId: String, role: String)] = []
    for (index, json) in (try item.list("roles") ?? []).enumerated() {
      let role = try ControlMembers(json, at: item.path("roles[\(index)]"), ["productId", "role"])
      roles.append((try role.required("productId", role.string), try role.string("role") ?? "NONE"))
    }
    let members = try item.strings("members") ?? []
    add { [roles] store in
      store.state.withState { $0.addGroup(groupId, type: type, roles: roles, members: members) }
    }
  }

  private func purchase(_ item: ControlMembers) throws(EmulatorControl.Failure) -> LocalStore.ImportedPurchase
  {
    var transaction = try item.required("transaction") { (name) throws(EmulatorControl.Failure) in
      try item.payload(name) { (json) throws(MalformedReceipt) in try JWSTransaction(decoding: json) }
    }
    guard transaction.transactionId != nil else {
      throw EmulatorControl.Failure("The member \"\(item.path("transaction.transactionId"))\" is missing.")
    }
    transaction.bundleId = transaction.bundleId ?? configuration.bundleId
    transaction.environment = transaction.environment ?? configuration.environment
    return LocalStore.ImportedPurchase(
      transaction, customer: try item.string("customer"),
      orderIdentifier: item["orderId"] == nil ? nil : try item.string("orderId"))
  }
}

extension JWSTransaction {
  /// Moves its dates, but that of the signature.
  fileprivate mutating func move(by seconds: Double) {
    purchaseDate = purchaseDate?.addingSeconds(seconds)
    originalPurchaseDate = originalPurchaseDate?.addingSeconds(seconds)
    expiresDate = expiresDate?.addingSeconds(seconds)
  }
}
