// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// The controls that change purchases on demand, over HTTP, as JSON. The article of the module has the table.
extension EmulatorControl {
  private var purchases: LocalStore { store.purchases }

  func control(_ request: EmulatorRequest) async throws -> RemoteResponse {
    let name = request.path.dropFirst().joined(separator: "/")
    switch (request.method, name) {
    case ("GET", "clock"): return .json(clock)
    case ("GET", "notifications"): return .json(try await notifications(request))
    case ("GET", "state"): return .binary(try await dump().encodedJSON(), "application/json")
    case ("GET", _): throw Failure("There is no such control: GET \(name).")
    case ("POST", _): break
    default: throw Failure("The method of a control is POST.")
    }
    let before = name == "state" ? .max : try await purchases.eventCount()
    let answer = try await perform(name, request.body)
    // Notifications of the change are sent at once.
    try await store.performDue()
    return .json(answer + (try await posted(after: before)))
  }

  // MARK: - Requests

  private func perform(_ name: String, _ body: [UInt8]) async throws -> JSONMembers {
    func read<Request: JSONRecord>(_ type: Request.Type = Request.self) throws -> Request {
      try Request(control: body)
    }
    func transaction() throws -> String { try read(TransactionControl.self).transactionId }
    func subscription() throws -> String { try read(SubscriptionControl.self).originalTransactionId }
    switch name {
    case "buy": return try await buy(read())
    case "finish": try await purchases.finish(transaction())
    case "cancel": try await purchases.perform(.setAutoRenew(false, of: subscription()))
    case "resume": try await purchases.perform(.setAutoRenew(true, of: subscription()))
    case "renew": try await purchases.perform(.renewNow(subscription()))
    case "change":
      let change = try read(ChangeControl.self)
      try await purchases.perform(.changeRenewal(of: change.originalTransactionId, to: change.productId))
    case "refund": try await refund(read())
    case "reverse-refund": try await purchases.reverseRefund(transaction())
    case "decline-refund": try await purchases.declineRefund(transaction())
    case "request-refund":
      let request = try read(RefundRequestControl.self)
      try await purchases.requestConsumption(request.transactionId, reason: request.reason ?? .other)
    case "revoke": try await purchases.revoke(transaction())
    case "billing":
      let billing = try read(BillingControl.self)
      try await purchases.perform(.setBillingIssue(billing.fails, of: billing.account))
    case "price":
      let price = try read(PriceControl.self)
      try await purchases.perform(
        .changePrice(of: price.productId, to: price.price, needsConsent: price.needsConsent))
    case "consent":
      let consent = try read(ConsentControl.self)
      try await purchases.perform(
        .answerPriceIncrease(of: consent.originalTransactionId, consents: consent.consents))
    case "sale":
      let sale = try read(SaleControl.self)
      try await purchases.perform(.setForSale(sale.isForSale, sale.productId))
    case "family":
      let family = try read(FamilyControl.self)
      if let organizer = family.organizer {
        try await purchases.addToFamily(family.account, of: organizer)
      } else {
        try await purchases.removeFromFamily(family.account)
      }
    case "delete-account": try await deleteAccount(read(AccountControl.self).account)
    case "approve":
      let approval = try read(ApprovalControl.self)
      try await purchases.approve(approval.requestId, account: approval.account)
    case "decline":
      let approval = try read(ApprovalControl.self)
      try await purchases.decline(approval.requestId, account: approval.account)
    case "advance":
      try await advance(read())
      return ["now": store.configuration.clock()]
    case "clock":
      guard let clock = store.clock else { throw Failure("The clock is not the emulator's own.") }
      clock.rate = try read(ClockControl.self).rate
      return self.clock
    case "realtime": return try await askForMessage(read())
    case "state": try await load(read())
    case "external-purchase-token": try await purchases.post(tokenNotification(read()))
    case "rescind-consent": try await purchases.post(consentNotification(read()))
    default: throw Failure("There is no such control: POST \(name).")
    }
    return [:]
  }

  private func buy(_ control: BuyControl) async throws -> JSONMembers {
    let payment = Payment(
      productIdentifier: control.productId, quantity: control.quantity,
      applicationUsername: control.appAccountToken,
      offer: control.offerCode.map { .code($0) } ?? control.winBackOffer.map { .winBack($0) })
    let request = PurchaseRequest(
      id: control.requestId ?? DeveloperSigner.randomNonce().rawValue, payment: payment)
    switch try await purchases.session(account: control.account).purchase(request) {
    case .purchased(let sold):
      return [
        "transactionId": sold.transactionIdentifier,
        "originalTransactionId": sold.originalTransactionIdentifier,
      ]
    case .pending: return ["pending": true, "requestId": request.id]
    case .failed(let error): throw Failure("The purchase failed: \(error)")
    }
  }

  private func refund(_ control: RefundControl) async throws {
    var amount = RefundAmount.full
    if let percentage = control.percentage, percentage != 100 {
      amount = .prorated(Int64((percentage * 1000).rounded()))
    }
    try await purchases.refund(
      control.transactionId, reason: control.reason == .issue ? .issue : .other, amount: amount)
  }

  private func deleteAccount(_ account: String) async throws {
    let sales = try await purchases.history(of: account) {
      $0.transaction.revocationDate == nil && $0.transaction.inAppOwnershipType == .purchased
    }.sales
    guard !sales.isEmpty else { throw Failure("The account \"\(account)\" has no purchases.") }
    for state in try await purchases.subscriptionStates(of: account)
    where state.subscription.autoRenews && !state.subscription.isFamilyShared {
      try await purchases.perform(.setAutoRenew(false, of: state.subscription.id))
    }
    for sale in sales {
      // A repurchase is refunded with the purchase.
      if try await purchases.currentSale(sale.identifier)?.transaction.revocationDate == nil {
        try await purchases.refund(sale.identifier)
      }
    }
  }

  /// The longest advance, in seconds: 3653 days, in which a weekly subscription renews 520 times.
  private static let longestAdvance: Double = 3653 * 86_400

  private func advance(_ control: AdvanceControl) async throws {
    let now = store.configuration.clock()
    let target: Timestamp
    switch (control.to, control.by) {
    case (let time?, _): target = time
    case (nil, .number(let seconds)?): target = now.addingSeconds(seconds.double)
    case (nil, let by):
      guard let period = by?.string.flatMap({ SubscriptionPeriod($0) }) else {
        throw Failure("\"by\" is a number of seconds, or a period such as P3D, P1W, P1M or P1Y.")
      }
      target = SubscriptionCalendar().end(of: period, from: now)
    }
    guard target >= now else { throw Failure("The clock shows \(now.iso8601), and does not go back.") }
    guard target <= now.addingSeconds(Self.longestAdvance) else {
      throw Failure("One request advances the clock by 10 years at most.")
    }
    try await store.advance(to: target)
  }

  private func consentNotification(_ control: RescindConsentControl) async throws -> Notification {
    let configuration = store.configuration
    let account = try await purchases.account(of: control.appTransactionId)
    var app = AppTransaction().with {
      $0.receiptType = configuration.environment
      $0.appAppleId = configuration.appAppleId
      $0.bundleId = configuration.bundleId
      $0.appTransactionId = control.appTransactionId
    }
    if let account, let known = try await purchases.appTransaction(of: account) { app = known }
    app.receiptCreationDate = configuration.clock()
    let signed = store.signing.sign(.appTransaction(app))
    return Notification().with {
      $0.notificationType = .rescindConsent
      $0.appData = NotificationAppData().with {
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
        $0.environment = configuration.environment
        $0.signedAppTransactionInfo = signed
      }
    }
  }

  private func tokenNotification(_ control: ExternalPurchaseTokenControl) -> Notification {
    let configuration = store.configuration
    return Notification().with {
      $0.notificationType = .externalPurchaseToken
      $0.subtype = control.subtype
      $0.externalPurchaseToken = ExternalPurchaseToken().with {
        $0.externalPurchaseId = control.externalPurchaseId ?? "SANDBOX_\(UInt64.random(in: 0 ... .max))"
        $0.tokenCreationDate = configuration.clock()
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
      }
    }
  }

  private func load(_ dump: StateDump) async throws {
    let records = try dump.records.map { record in
      guard let value = record.bytes ?? record.value.map({ Array($0.utf8) }) else {
        throw Failure("The record \"\(record.key)\" has neither \"value\" nor \"bytes\".")
      }
      return RecordChange.put(
        RecordCollection(rawValue: record.collection), key: record.key, value: value)
    }
    try await purchases.replaceAll(with: records)
    store.clock?.advance(to: try await purchases.lastEventDate())
  }

  // MARK: - Retention messages

  /// Asks the developer's server for a retention message about a subscription, and checks the answer.
  ///
  /// - Returns: The members of the answer: `status`, `response` and `problems`. `problems` is empty if the App Store
  ///   would show the message in the server's answer.
  private func askForMessage(_ control: RealtimeControl) async throws -> JSONMembers {
    let original = control.originalTransactionId
    guard let state = try await store.purchases.subscriptionState(original) else {
      throw Failure("There is no subscription \"\(original)\".")
    }
    guard let url = control.url ?? store.state.withState({ $0.messaging.realtimeURL }) else {
      throw Failure(
        "There is no realtime URL. Set it with PUT /inApps/v1/messaging/realtime/url, or give \"url\".")
    }
    guard let sender = store.sender else { throw Failure("This emulator sends nothing.") }
    let configuration = store.configuration
    let request = RealtimeRequest(
      originalTransactionId: original, appAppleId: configuration.appAppleId,
      productId: state.subscription.productIdentifier,
      userLocale: control.userLocale,
      requestIdentifier: DeveloperSigner.randomNonce(), environment: configuration.environment,
      signedDate: configuration.clock())
    let body = ["signedPayload": store.signing.sign(.realtimeRequest(request))] as JSONMembers
    let response: RemoteResponse
    do throws(HTTPTransportError) { response = try await sender.ask(body.encoded(), at: url) } catch {
      return ["problems": ["There is no answer: \(error)"]]
    }
    return [
      "status": response.status, "response": try? JSONValue(parsing: response.body),
      "problems": problems(response),
    ]
  }

  private func problems(_ response: RemoteResponse) -> [String] {
    guard response.status == 200 else { return ["The status is \(response.status), and not 200."] }
    let answer: RealtimeResponse
    do throws(MalformedReceipt) {
      answer = try RealtimeResponse(json: response.body, part: "realtime response", limits: .standard)
    } catch {
      return ["The answer cannot be read: \(error.description)"]
    }
    let messages = [
      answer.message.map(\.messageIdentifier), answer.alternateProduct.map(\.messageIdentifier),
      answer.promotionalOffer.map(\.messageIdentifier), answer.advancedCommerceInfo.map(\.messageIdentifier),
    ].compactMap(\.self)
    guard messages.count == 1, let message = messages[0]?.canonical?.rawValue else {
      return [
        "The answer must have one of message, alternateProduct, promotionalOffer and advancedCommerceInfo, with its messageIdentifier."
      ]
    }
    let state = store.state.withState { $0.messaging.messages[message]?.state }
    switch state {
    case "APPROVED"?: return []
    case nil: return ["There is no message \(message)."]
    case let state?: return ["The message \(message) is \(state), and not approved."]
    }
  }

  // MARK: - Answers

  private func dump() async throws -> StateDump {
    let records = try await purchases.allRecords().map { collection, record in
      let text = String(validating: record.value, as: UTF8.self)
      return StateRecord(
        collection: collection.rawValue, key: record.key, value: text,
        bytes: text == nil ? record.value : nil)
    }
    return StateDump(records: records)
  }

  private var clock: JSONMembers {
    [
      "now": store.configuration.clock(),
      "rate": store.clock.flatMap { JSONNumber($0.rate) }.map { JSONValue.number($0) },
    ]
  }

  private func notifications(_ request: EmulatorRequest) async throws -> JSONMembers {
    var (after, limit): (Int64, Int64) = (0, Self.greatestPage)
    for item in request.query {
      switch (item.name, Int64(item.value)) {
      case ("after", let number?) where number >= 0: after = number
      case ("limit", let number?) where 1...Self.greatestPage ~= number: limit = number
      default:
        throw Failure(
          "The query of notifications is after=NUMBER and limit=1 to \(Self.greatestPage), not "
            + "\(item.name)=\(item.value).")
      }
    }
    return try await posted(after: after, limit: limit, isFull: true)
  }

  /// The greatest number of notifications in one answer. If there are more, `hasMore` is `true`.
  private static let greatestPage: Int64 = 10_000

  /// The notifications after a number, and a flag that indicates whether there are more than the limit.
  private func posted(
    after number: Int64, limit: Int64 = Self.greatestPage, isFull: Bool = false
  ) async throws -> JSONMembers {
    var found: [JSONMembers] = []
    var last = number
    while true {
      let page = try await purchases.notifications(after: last, limit: 256)
      guard let end = page.last else { return ["notifications": found] }
      last = end.number
      for notification in page {
        guard found.count < limit else { return ["notifications": found, "hasMore": true] }
        let delivery = isFull ? try await purchases.delivery(of: notification.number) : nil
        found.append([
          "number": notification.number, "notificationType": notification.type.rawValue,
          "subtype": notification.subtype?.rawValue, "notificationUUID": notification.uuid.rawValue,
          "signedDate": notification.signedDate,
          "transactionId": Self.text(notification.transactionIdentifier),
          "originalTransactionId": Self.text(notification.originalTransactionIdentifier),
          "sendAttempts": delivery?.attempts.map { JSONMembers($0) },
        ])
      }
    }
  }

  private static func text(_ text: String) -> String? { text.isEmpty ? nil : text }
}
