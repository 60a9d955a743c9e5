// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import ReceiptTesting
package import Storefront

/// Purchases and settings to import into an emulated App Store, read from JSON. The article of the module shows it.
package struct EmulatorSeed: Sendable {
  private let document: SeedDocument
  /// `true` if the seed contains `notificationURL`, even as `null`.
  private let setsNotificationURL: Bool
  private let configuration: EmulatedAppStore.Configuration

  package init(json: JSONValue, configuration: EmulatedAppStore.Configuration) throws {
    document = try SeedDocument(control: json.encoded())
    if let index = document.histories.firstIndex(where: { !(1...1_000_000 ~= $0.count) }) {
      throw EmulatorControl.Failure("\"histories[\(index)].count\" is 1 to 1000000.")
    }
    setsNotificationURL = json["notificationURL"] != nil
    self.configuration = configuration
  }

  package func apply(to store: EmulatedAppStore) async throws(LocalStoreError) {
    try await set(store)
    if document.sample { try await addSample(to: store.purchases) }
    try await addPurchases(to: store.purchases)
    for notification in document.notifications { try await add(notification, to: store.purchases) }
    store.state.withState { state in
      for group in document.groups { state.groups[group.groupId] = group }
    }
  }

  private func set(_ store: EmulatedAppStore) async throws(LocalStoreError) {
    if document.reset { try await store.purchases.removeAll() }
    let url = store.state.withState { state in
      if document.reset { state = EmulatorState(notificationURL: state.defaultNotificationURL) }
      if let pending = document.pendingAnswers { state.pendingAnswers = max(0, pending) }
      if setsNotificationURL { state.notificationURL = document.notificationURL }
      if let uploads = document.stateOfUploads { state.stateOfUploads = uploads.rawValue }
      if let hasPassed = document.hasPassedPerformanceTest { state.hasPassedPerformanceTest = hasPassed }
      return state.notificationURL
    }
    if document.reset || setsNotificationURL {
      await store.purchases.setSendsNotifications(url != nil && store.sender != nil)
    }
  }

  private func addSample(to store: LocalStore) async throws(LocalStoreError) {
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
      transaction.purchaseDate = transaction.purchaseDate?.addingSeconds(seconds)
      transaction.originalPurchaseDate = transaction.originalPurchaseDate?.addingSeconds(seconds)
      transaction.expiresDate = transaction.expiresDate?.addingSeconds(seconds)
      renewalInfo.recentSubscriptionStartDate = transaction.purchaseDate
      renewalInfo.renewalDate = transaction.expiresDate
      appTransaction.originalPurchaseDate = transaction.purchaseDate
    }
    try await store.add([
      LocalStore.ImportedPurchase(
        transaction, renewalInfo: renewalInfo, status: .active, orderIdentifier: "W000001")
    ])
    try await store.add(appTransaction, customer: SampleReceipts.transaction.originalTransactionId)
  }

  private func addPurchases(to store: LocalStore) async throws(LocalStoreError) {
    let transactions = document.transactions.map {
      LocalStore.ImportedPurchase(
        completed($0.transaction), customer: $0.customer, orderIdentifier: $0.orderId)
    }
    let subscriptions = document.subscriptions.map {
      LocalStore.ImportedPurchase(
        completed($0.transaction), renewalInfo: completed($0.renewalInfo, of: $0.transaction),
        status: $0.status, customer: $0.customer, orderIdentifier: $0.orderId)
    }
    if !(transactions + subscriptions).isEmpty { try await store.add(transactions + subscriptions) }
    for history in document.histories {
      try await store.addHistory(
        of: completed(history.transaction), count: history.count, customer: history.customer)
    }
    for item in document.appTransactions {
      let appTransaction = item.appTransaction.with {
        $0.bundleId = $0.bundleId ?? configuration.bundleId
        $0.receiptType = $0.receiptType ?? configuration.environment
        $0.appAppleId = $0.appAppleId ?? configuration.appAppleId
      }
      try await store.add(appTransaction, customer: item.customer)
    }
    for refund in document.refunds {
      let date = refund.date ?? configuration.clock()
      try await store.amend(refund.transactionId) {
        $0.revocationDate = date
        $0.revocationReason = $0.revocationReason ?? .other
      }
    }
  }

  private func completed(_ transaction: JWSTransaction) -> JWSTransaction {
    transaction.with {
      $0.bundleId = $0.bundleId ?? configuration.bundleId
      $0.environment = $0.environment ?? configuration.environment
    }
  }

  private func completed(_ renewalInfo: JWSRenewalInfo, of transaction: JWSTransaction) -> JWSRenewalInfo {
    renewalInfo.with {
      $0.environment = $0.environment ?? configuration.environment
      $0.originalTransactionId =
        $0.originalTransactionId ?? transaction.originalTransactionId ?? transaction.transactionId
      $0.productId = $0.productId ?? transaction.productId
    }
  }

  private func add(_ item: SeedNotification, to store: LocalStore) async throws(LocalStoreError) {
    let now = configuration.clock()
    let attempts = item.sendAttempts.map { seed in
      DeliveryRecord.Attempt().with {
        $0.attemptDate = seed.attemptDate ?? now
        $0.sendAttemptResult = seed.sendAttemptResult
      }
    }
    let notification = item.notification.with { $0.signedDate = $0.signedDate ?? now }
    try await store.add(notification, about: item.transactionIds, attempts: attempts)
  }
}
