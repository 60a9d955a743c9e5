// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// What happens to purchases on demand, over HTTP, as JSON; the article of the module has the table.
struct PurchaseControl {
  private let store: EmulatedAppStore
  private var purchases: LocalStore { store.purchases }

  init(_ store: EmulatedAppStore) { self.store = store }

  typealias Failure = EmulatorControl.Failure

  func respond(to request: EmulatorRequest) async throws(Failure) -> EmulatorResponse {
    let name = request.path.dropFirst().joined(separator: "/")
    if request.method == "GET" {
      switch name {
      case "clock": return .json(clock)
      case "notifications": return try await notifications(request)
      case "state": return try await records()
      default: throw Failure("There is no such control: GET \(name).")
      }
    }
    guard request.method == "POST" else { throw Failure("The method of a control is POST.") }
    let json: JSONValue
    do throws(MalformedReceipt) { json = try JSONValue(parsing: request.body) } catch {
      throw Failure(error.description)
    }
    let before: Int64
    var members: [(name: String, value: JSONValue?)]
    do {
      before = name == "state" ? .max : try await purchases.eventCount()
      members = try await perform(name, json)
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure("\(error)")
    }
    // What happened is sent at once.
    do {
      try await store.performDue()
      members += try await posted(after: before).map { ($0.name, $0.value) }
    } catch {
      throw Failure("\(error)")
    }
    return .json(
      .object(members.compactMap { member in member.value.map { JSONMember(name: member.name, value: $0) } }))
  }

  // MARK: - Requests

  private func perform(_ name: String, _ json: JSONValue) async throws -> [(name: String, value: JSONValue?)]
  {
    switch name {
    case "buy": return try await buy(json)
    case "finish": try await purchases.finish(try one("transactionId", json))
    case "cancel": try await purchases.perform(.setAutoRenew(false, of: one("originalTransactionId", json)))
    case "resume": try await purchases.perform(.setAutoRenew(true, of: one("originalTransactionId", json)))
    case "renew": try await purchases.perform(.renewNow(one("originalTransactionId", json)))
    case "change":
      let members = try ControlMembers(json, ["originalTransactionId", "productId"])
      try await purchases.perform(
        .changeRenewal(
          of: members.required("originalTransactionId", members.string),
          to: members.required("productId", members.string)))
    case "refund": try await refund(json)
    case "reverse-refund": try await purchases.reverseRefund(one("transactionId", json))
    case "decline-refund": try await purchases.declineRefund(one("transactionId", json))
    case "request-refund":
      let members = try ControlMembers(json, ["transactionId", "reason"])
      let reason = try members.string("reason").map { ConsumptionRequestReason(rawValue: $0) }
      try await purchases.requestConsumption(
        members.required("transactionId", members.string), reason: reason ?? .other)
    case "revoke": try await purchases.revoke(one("transactionId", json))
    case "billing":
      let members = try ControlMembers(json, ["account", "fails"])
      try await purchases.perform(
        .setBillingIssue(
          members.required("fails", members.flag), of: members.required("account", members.string)))
    case "price":
      let members = try ControlMembers(json, ["productId", "price", "needsConsent"])
      try await purchases.perform(
        .changePrice(
          of: members.required("productId", members.string), to: members.required("price", members.decimal),
          needsConsent: members.flag("needsConsent") ?? true))
    case "consent":
      let members = try ControlMembers(json, ["originalTransactionId", "consents"])
      try await purchases.perform(
        .answerPriceIncrease(
          of: members.required("originalTransactionId", members.string),
          consents: members.required("consents", members.flag)))
    case "sale":
      let members = try ControlMembers(json, ["productId", "isForSale"])
      try await purchases.perform(
        .setForSale(
          members.required("isForSale", members.flag), members.required("productId", members.string)))
    case "family":
      let members = try ControlMembers(json, ["account", "organizer"])
      let account = try members.required("account", members.string)
      if let organizer = try members.string("organizer") {
        try await purchases.addToFamily(account, of: organizer)
      } else {
        try await purchases.removeFromFamily(account)
      }
    case "delete-account": try await deleteAccount(one("account", json))
    case "approve", "decline":
      let members = try ControlMembers(json, ["account", "requestId"])
      let account = try members.required("account", members.string)
      let request = try members.required("requestId", members.string)
      if name == "approve" {
        try await purchases.approve(request, account: account)
      } else {
        try await purchases.decline(request, account: account)
      }
    case "advance": return try await advance(json)
    case "clock":
      guard let clock = store.clock else { throw Failure("The clock is not the emulator's own.") }
      let members = try ControlMembers(json, ["rate"])
      clock.rate = try members.required("rate", members.number)
      return [("now", .date(clock.now)), ("rate", JSONNumber(clock.rate).map { .number($0) })]
    case "realtime": return try await RealtimeControl(store: store).ask(json)
    case "state":
      try await load(json)
      return []
    case "external-purchase-token", "rescind-consent": try await notify(name, json)
    default: throw Failure("There is no such control: POST \(name).")
    }
    return []
  }

  /// The only member of a request.
  private func one(_ name: String, _ json: JSONValue) throws(Failure) -> String {
    let members = try ControlMembers(json, [name])
    return try members.required(name, members.string)
  }

  private func buy(_ json: JSONValue) async throws -> [(name: String, value: JSONValue?)] {
    let members = try ControlMembers(
      json,
      ["account", "productId", "quantity", "appAccountToken", "offerCode", "winBackOffer", "requestId"])
    let offer: PaymentOffer? =
      try members.string("offerCode").map { .code($0) } ?? members.string("winBackOffer").map { .winBack($0) }
    let payment = Payment(
      productIdentifier: try members.required("productId", members.string),
      quantity: Int(clamping: try members.integer("quantity") ?? 1),
      applicationUsername: try members.string("appAccountToken"), offer: offer)
    let request = PurchaseRequest(
      id: try members.string("requestId") ?? DeveloperSigner.randomNonce().rawValue, payment: payment
    )
    switch try await purchases.session(account: members.required("account", members.string)).purchase(request)
    {
    case .purchased(let sold):
      return [
        ("transactionId", .string(sold.transactionIdentifier)),
        ("originalTransactionId", .string(sold.originalTransactionIdentifier)),
      ]
    case .pending: return [("pending", .bool(true)), ("requestId", .string(request.id))]
    case .failed(let error): throw Failure("The purchase failed: \(error)")
    }
  }

  private func refund(_ json: JSONValue) async throws {
    let members = try ControlMembers(json, ["transactionId", "reason", "percentage"])
    let reason = try members.choice("reason", ["ISSUE": RevocationReason.issue, "OTHER": .other])
    var amount = RefundAmount.full
    if let percentage = try members.number("percentage"), percentage != 100 {
      amount = .prorated(Int64((percentage * 1000).rounded()))
    }
    try await purchases.refund(
      members.required("transactionId", members.string), reason: reason ?? .other, amount: amount)
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

  /// In seconds: a subscription of a week renews 520 times meanwhile.
  private static let longestAdvance: Double = 3653 * 86_400

  private func advance(_ json: JSONValue) async throws -> [(name: String, value: JSONValue?)] {
    let members = try ControlMembers(json, ["by", "to"])
    let now = store.configuration.clock()
    let target: Timestamp
    if let time = try members.time("to") {
      target = time
    } else if let by = members["by"], let text = by.string {
      guard let period = SubscriptionPeriod(text) else {
        throw Failure("\"by\" is not a period such as P3D, P1W, P1M or P1Y.")
      }
      target = SubscriptionCalendar().end(of: period, from: now)
    } else {
      target = now.addingSeconds(try members.required("by", members.number))
    }
    guard target >= now else { throw Failure("The clock shows \(now.iso8601), and does not go back.") }
    guard target <= now.addingSeconds(Self.longestAdvance) else {
      throw Failure("One request advances the clock by 10 years at most.")
    }
    try await store.advance(to: target)
    return [("now", .date(store.configuration.clock()))]
  }

  private func notify(_ name: String, _ json: JSONValue) async throws {
    let configuration = store.configuration
    let now = configuration.clock()
    var notification = Notification()
    if name == "rescind-consent" {
      let members = try ControlMembers(json, ["appTransactionId"])
      var app = AppTransaction().with {
        $0.receiptType = configuration.environment
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
        $0.receiptCreationDate = now
      }
      app.appTransactionId = try members.required("appTransactionId", members.string)
      if let account = try await purchases.account(of: app.appTransactionId ?? ""),
        let known = try await purchases.appTransaction(of: account)
      {
        app = known
        app.receiptCreationDate = now
      }
      let signed = store.signing.sign(.appTransaction(app))
      notification.notificationType = .rescindConsent
      notification.appData = NotificationAppData().with {
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
        $0.environment = configuration.environment
        $0.signedAppTransactionInfo = signed
      }
    } else {
      let members = try ControlMembers(json, ["externalPurchaseId", "subtype"])
      let identifier = try members.string("externalPurchaseId")
      notification.notificationType = .externalPurchaseToken
      notification.subtype = NotificationSubtype(rawValue: try members.string("subtype") ?? "UNREPORTED")
      notification.externalPurchaseToken = ExternalPurchaseToken().with {
        $0.externalPurchaseId = identifier ?? "SANDBOX_\(UInt64.random(in: 0 ... .max))"
        $0.tokenCreationDate = now
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
      }
    }
    try await purchases.post(notification)
  }

  private func load(_ json: JSONValue) async throws {
    let members = try ControlMembers(json, ["records"])
    var records: [RecordChange] = []
    for (index, json) in (try members.required("records", members.list)).enumerated() {
      let record = try ControlMembers(json, at: "records[\(index)]", ["collection", "key", "value", "bytes"])
      records.append(
        .put(
          RecordCollection(rawValue: try record.required("collection", record.string)),
          key: try record.required("key", record.string),
          value: try Self.bytes(of: record)))
    }
    try await purchases.replaceAll(with: records)
    store.clock?.advance(to: try await purchases.lastEventDate())
  }

  /// The value of a record: text, or bytes in Base64.
  private static func bytes(of record: ControlMembers) throws(Failure) -> [UInt8] {
    guard let encoded = try record.string("bytes") else {
      return Array(try record.required("value", record.string).utf8)
    }
    do throws(Base64Error) { return try Base64.decode(Array(encoded.utf8)) } catch {
      throw Failure("\"\(record.path("bytes"))\" is no Base64.")
    }
  }

  // MARK: - Answers

  private func records() async throws(Failure) -> EmulatorResponse {
    do throws(LocalStoreError) {
      let records = try await purchases.allRecords().map { collection, record -> JSONValue in
        .members(
          ("collection", .string(collection.rawValue)), ("key", .string(record.key)),
          ("value", String(validating: record.value, as: UTF8.self).map { .string($0) }),
          (
            "bytes",
            String(validating: record.value, as: UTF8.self) == nil
              ? .string(Base64.encodeToString(record.value)) : nil
          ))
      }
      return .json(.members(("records", .array(records))))
    } catch {
      throw Failure(error.description)
    }
  }

  private var clock: JSONValue {
    .members(
      ("now", .date(store.configuration.clock())),
      ("rate", store.clock.flatMap { JSONNumber($0.rate) }.map { .number($0) }))
  }

  private func notifications(_ request: EmulatorRequest) async throws(Failure) -> EmulatorResponse {
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
    do {
      return .json(.object(try await posted(after: after, limit: limit, isFull: true)))
    } catch {
      throw Failure("\(error)")
    }
  }

  /// The greatest number of notifications in one answer. Where there are more, `hasMore` says so.
  private static let greatestPage: Int64 = 10_000

  /// The notifications after a number, and whether there are more than the limit.
  private func posted(
    after number: Int64, limit: Int64 = Self.greatestPage, isFull: Bool = false
  ) async throws -> [JSONMember] {
    var found: [JSONValue] = []
    var last = number
    while true {
      let page = try await purchases.notifications(after: last, limit: 256)
      guard let end = page.last else { break }
      last = end.number
      for notification in page {
        guard found.count < limit else {
          return [
            JSONMember(name: "notifications", value: .array(found)),
            JSONMember(name: "hasMore", value: .bool(true)),
          ]
        }
        let attempts = isFull ? try await purchases.delivery(of: notification.number).attempts : []
        found.append(
          .members(
            ("number", .integer(notification.number)),
            ("notificationType", .string(notification.type.rawValue)),
            ("subtype", notification.subtype.map { .string($0.rawValue) }),
            ("notificationUUID", .string(notification.uuid.rawValue)),
            ("signedDate", .date(notification.signedDate)),
            ("transactionId", Self.text(notification.transactionIdentifier)),
            ("originalTransactionId", Self.text(notification.originalTransactionIdentifier)),
            (
              "sendAttempts",
              isFull
                ? .array(
                  attempts.map {
                    .members(
                      ("attemptDate", .date($0.attemptDate)),
                      ("sendAttemptResult", .string($0.sendAttemptResult)))
                  }) : nil
            )))
      }
    }
    return [JSONMember(name: "notifications", value: .array(found))]
  }

  private static func text(_ text: String) -> JSONValue? { text.isEmpty ? nil : .string(text) }
}
