// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// What happens at Google Play on demand, over HTTP, as JSON; the article of the module has the table.
struct PlayControl {
  let play: EmulatedPlay
  let store: EmulatedPlayStore

  typealias Failure = EmulatorControl.Failure
  typealias Members = [(name: String, value: JSONValue?)]

  /// The engine's own controls that mean the same here. Those with a purchase name it by its token.
  private static let engineControls: Set<String> = [
    "billing", "price", "consent", "sale", "advance", "clock", "state", "cancel", "resume", "change", "renew",
    "delete-account",
  ]
  /// Those that only read or set what tests need.
  private static let testControls: Set<String> = ["faults", "statistics"]

  func respond(to request: EmulatorRequest, name: String) async -> EmulatorResponse {
    do {
      if Self.testControls.contains(name) { return try await forward(request, name, request.body) }
      if request.method == "GET" { return .json(Self.object(try await read(name, request))) }
      guard request.method == "POST" else { throw Failure("The method of a control is POST.") }
      let json: JSONValue
      do throws(MalformedReceipt) { json = try JSONValue(parsing: request.body) } catch {
        throw Failure(error.description)
      }
      // What happened is followed and pushed at once.
      try await store.performDue()
      let before = name == "state" ? Int64.max : try await store.ledger.header().messageCount
      var members: Members = []
      if name == "resume", let token = json["purchaseToken"]?.string,
        try await store.ledger.purchase(token: token)?.pauseDate != nil
      {
        _ = try ControlMembers(json, ["purchaseToken"])
        try await endPause(of: token)
      } else if Self.engineControls.contains(name) {
        let response = try await forward(request, name, try await translated(json).encoded())
        guard response.status == 200 else { return response }
        let answer = try JSONValue(parsing: response.body)
        // The engine's own notifications are the App Store's.
        members = (answer.object ?? []).filter { $0.name != "notifications" }.map { ($0.name, $0.value) }
      } else {
        members = try await perform(name, json)
      }
      try await store.performDue()
      if name != "state" { members.append(("messages", .array(try await messages(after: before)))) }
      return .json(Self.object(members))
    } catch let error as PlayError {
      return Self.failure(error.message)
    } catch {
      return Self.failure("\(error)")
    }
  }

  private static func failure(_ text: String) -> EmulatorResponse {
    .json(.members(("error", .string(text))), status: 400)
  }

  private static func object(_ members: Members) -> JSONValue {
    .object(members.compactMap { member in member.value.map { JSONMember(name: member.name, value: $0) } })
  }

  /// Lets the engine perform a control.
  private func forward(
    _ request: EmulatorRequest, _ name: String, _ body: [UInt8]
  ) async throws(Failure) -> EmulatorResponse {
    let query = request.target.drop { $0 != "?" }
    let forwarded = EmulatorRequest(
      request.method, target: "/_emulator/\(name)\(query)", headers: request.headers, body: body)
    guard let response = await EmulatorControl(store.host).respond(to: forwarded) else {
      throw Failure("There is no such control: \(name).")
    }
    return response
  }

  /// The request with the engine's transaction in place of the purchase token.
  private func translated(_ json: JSONValue) async throws -> JSONValue {
    guard let token = json["purchaseToken"]?.string, let members = json.object else { return json }
    let purchase = try await purchase(token)
    guard purchase.endDate == nil, let original = purchase.originalTransactionId else {
      throw Failure("The purchase \"\(token)\" was not paid for, or was replaced by another one.")
    }
    return .object(
      members.filter { $0.name != "purchaseToken" }
        + [JSONMember(name: "originalTransactionId", value: .string(original))])
  }

  private func purchase(_ token: String) async throws -> PlayPurchase {
    guard let purchase = try await store.ledger.purchase(token: token), purchase.state != .requested else {
      throw Failure("There is no purchase \"\(token)\".")
    }
    return purchase
  }

  // MARK: - Requests

  private func read(_ name: String, _ request: EmulatorRequest) async throws -> Members {
    func query(_ name: String) -> String? { request.query.first { $0.name == name }?.value }
    switch name {
    case "messages":
      return [
        ("messages", .array(try await messages(after: query("after").flatMap { Int64($0) } ?? 0)))
      ]
    case "purchase":
      let purchase = try await purchase(query("token") ?? "")
      return try await signed(purchase)
    case "key": return [("publicKey", .string(try await store.publicKey()))]
    case "token-faults": return [("faults", .strings(PushTokenFault.allCases.map(\.rawValue)))]
    case "clock", "state":
      let response = try await forward(request, name, [])
      return (try JSONValue(parsing: response.body).object ?? []).map { ($0.name, $0.value) }
    default: throw Failure("There is no such control: GET play/\(name).")
    }
  }

  private func perform(_ name: String, _ json: JSONValue) async throws -> Members {
    switch name {
    case "buy": return try await buy(json)
    case "approve", "decline":
      let members = try ControlMembers(json, ["purchaseToken"])
      let token = try members.required("purchaseToken", members.string)
      try await decide(token, isApproved: name == "approve")
    case "refund": try await refund(json)
    case "pause":
      let members = try ControlMembers(json, ["purchaseToken", "days"])
      let days = try members.integer("days", in: 1...92) ?? 30
      try await pause(members.required("purchaseToken", members.string), days: days)
    case "push":
      let members = try ControlMembers(json, ["url", "audience", "email", "subscription", "duplicates"])
      let (url, audience) = (try members.string("url"), try members.string("audience"))
      let (email, subscription) = (try members.string("email"), try members.string("subscription"))
      let duplicates = try members.integer("duplicates", in: 0...100)
      store.withSettings { settings in
        if let url { settings.push.url = url.isEmpty ? nil : url }
        if let audience { settings.push.audience = audience.isEmpty ? nil : audience }
        if let email { settings.push.email = email }
        if let subscription { settings.push.name = subscription }
      }
      if let duplicates {
        try await store.exclusively { [store] in
          var header = try await store.ledger.header()
          header.duplicates = Int64(duplicates)
          try await store.ledger.commit(PlayLedger.Change(header))
        }
      }
    case "test-notification":
      _ = try ControlMembers(json, [])
      try await store.exclusively { [store] in
        try await store.post("testNotification", .members(("version", .string("1.0"))))
      }
    case "forge": return try await forge(json)
    case "rotate-keys":
      let members = try ControlMembers(json, ["keepsOld", "maxAge"])
      if let age = try members.integer("maxAge", in: 0...86_400) { play.keys.setLongestAge(Int64(age)) }
      try play.keys.rotate(keepsOld: members.flag("keepsOld") ?? true)
    case "revoke-tokens":
      _ = try ControlMembers(json, [])
      play.tokens.revokeAll()
    case "quota":
      let members = try ControlMembers(json, ["bucket", "limit"])
      let bucket = try members.required("bucket", of: PlayQuotas.Bucket.self)
      store.quotas.setLimit(try members.integer("limit", in: 0...1_000_000), of: bucket)
    case "permissions":
      let members = try ControlMembers(json, PlayRoute.Permission.allCases.map(\.rawValue))
      for permission in PlayRoute.Permission.allCases {
        guard let isGranted = try members.flag(permission.rawValue) else { continue }
        store.withSettings { settings in
          if isGranted {
            settings.permissions.insert(permission)
          } else {
            settings.permissions.remove(permission)
          }
        }
      }
    default: throw Failure("There is no such control: POST play/\(name).")
    }
    return []
  }

  private func refund(_ json: JSONValue) async throws {
    let members = try ControlMembers(json, ["orderId", "source", "reason"])
    let order = try members.required("orderId", members.string)
    let source =
      try members.choice("source", ["user": 0, "developer": 1, "google": 2] as KeyValuePairs<String, Int64>)
      ?? 0
    let reason =
      try members.choice(
        "reason",
        [
          "other": 0, "remorse": 1, "not-received": 2, "defective": 3, "accidental-purchase": 4, "fraud": 5,
          "friendly-fraud": 6, "chargeback": 7, "unacknowledged": 8,
        ] as KeyValuePairs<String, Int64>) ?? 0
    try await store.exclusively { [store] in
      guard let purchase = try await store.ledger.purchase(.order(order)),
        let transaction = purchase.orders.first(where: { $0.orderId == order })?.transactionId
      else { throw Failure("There is no order \"\(order)\" that was charged for.") }
      try await store.refund(transaction, of: purchase, source: source, reason: reason, amount: .full)
    }
  }

  /// Pushes a test notification whose token has a fault, once.
  private func forge(_ json: JSONValue) async throws -> Members {
    let members = try ControlMembers(json, ["fault"])
    let fault = try members.choice("fault", of: PushTokenFault.self)
    guard let sender = store.pushSender, store.withSettings({ $0.push.url }) != nil else {
      throw Failure("There is no push endpoint. Set one with POST play/push.")
    }
    var message = PlayMessage()
    message.messageId = PlayMessage.newIdentifier()
    message.publishDate = store.now
    message.notification = PlayMessage.notification(
      "testNotification", .members(("version", .string("1.0"))), of: store.packageName, at: store.now)
    let (status, failure) = await sender.push(message, fault)
    return [
      ("messageId", .string(message.messageId)), ("status", status.map { .integer(Int64($0)) }),
      ("failure", failure.map { .string($0) }),
    ]
  }

  // MARK: - Answers

  /// A purchase as the app receives it.
  func signed(_ purchase: PlayPurchase) async throws -> Members {
    let view = try await PlayView(purchase, in: store.ledger.store)
    var members: Members = [
      ("purchaseToken", .string(purchase.token)),
      ("orderId", purchase.orders.last.map { .string($0.orderId) }),
    ]
    if purchase.state == .pending { members.append(("pending", .bool(true))) }
    return try await store.exclusively { [store, members] in
      members + (try await store.signedPurchase(view))
    }
  }

  private func messages(after number: Int64) async throws -> [JSONValue] {
    try await store.ledger.messages(after: number, limit: 10_000).map { message in
      .members(
        ("number", .integer(message.number)), ("messageId", .string(message.messageId)),
        ("publishTime", .date(message.publishDate)), ("notification", message.notification),
        (
          "attempts",
          .array(
            message.attempts.map { attempt in
              .members(
                ("date", .date(attempt.date)), ("status", attempt.status.map { .integer($0) }),
                ("failure", attempt.failure.map { .string($0) }))
            })
        ), ("nextAttempt", message.nextAttempt.map { .date($0) }))
    }
  }
}
