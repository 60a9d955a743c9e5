// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// The controls of Google Play, over HTTP, as JSON. The article of the module has the table.
struct PlayControl {
  let play: EmulatedPlay
  let store: EmulatedPlayStore

  typealias Failure = EmulatorControl.Failure
  typealias Members = [(name: String, value: JSONValue?)]

  /// The engine's own controls that mean the same here. A purchase is named by its token.
  private static let engineControls: Set<String> = [
    "billing", "price", "consent", "sale", "advance", "clock", "state", "cancel", "resume", "change", "renew",
    "delete-account",
  ]
  /// The engine's controls that only read or set values that tests need.
  private static let testControls: Set<String> = ["faults", "statistics"]

  func respond(to request: EmulatorRequest, name: String) async -> RemoteResponse {
    do {
      if Self.testControls.contains(name) { return try await forward(request, name, request.body) }
      if request.method == "GET" { return .json(.members(try await read(name, request))) }
      guard request.method == "POST" else { throw Failure("The method of a control is POST.") }
      // Events so far are processed and pushed at once.
      try await store.performDue()
      let before = name == "state" ? Int64.max : try await store.ledger.header().messageCount
      var members: Members = []
      if name == "resume", let token = try JSONValue(parsing: request.body)["purchaseToken"]?.string,
        try await store.ledger.purchase(token: token)?.pauseDate != nil
      {
        _ = try DecisionControl(control: request.body)
        try await endPause(of: token)
      } else if Self.engineControls.contains(name) {
        let response = try await forward(request, name, try await translated(request.body))
        guard response.status == 200 else { return response }
        let answer = try JSONValue(parsing: response.body)
        // The engine's own notifications are the App Store's, so they are left out.
        members = (answer.object ?? []).filter { $0.name != "notifications" }.map { ($0.name, $0.value) }
      } else {
        members = try await perform(name, request.body)
      }
      try await store.performDue()
      if name == "change" { members += try await successor(request.body) }
      if name != "state" { members.append(("messages", .array(try await messages(after: before)))) }
      return .json(.members(members))
    } catch let error as PlayError {
      return Self.failure(error.message)
    } catch {
      return Self.failure("\(error)")
    }
  }

  private static func failure(_ text: String) -> RemoteResponse {
    .json(status: 400, ("error", .string(text)))
  }

  /// Forwards a control to the engine.
  private func forward(
    _ request: EmulatorRequest, _ name: String, _ body: [UInt8]
  ) async throws(Failure) -> RemoteResponse {
    let query = request.target.drop { $0 != "?" }
    let forwarded = EmulatorRequest(
      request.method, target: "/_emulator/\(name)\(query)", headers: request.headers, body: body)
    guard let response = await EmulatorControl(store.host).respond(to: forwarded) else {
      throw Failure("There is no such control: \(name).")
    }
    return response
  }

  /// The request with the engine's transaction in place of the purchase token.
  private func translated(_ body: [UInt8]) async throws -> [UInt8] {
    let json = try JSONValue(parsing: body)
    guard let token = json["purchaseToken"]?.string, let members = json.object else { return body }
    let purchase = try await purchase(token)
    guard purchase.endDate == nil, let original = purchase.originalTransactionId else {
      throw Failure("The purchase \"\(token)\" was not paid for, or was replaced by another one.")
    }
    let others = members.filter { $0.name != "purchaseToken" }.map { ($0.name, $0.value) }
    return JSONValue.members(others + [("originalTransactionId", .string(original))]).encoded()
  }

  /// The purchase that replaced the one in the request, as the app receives it.
  private func successor(_ body: [UInt8]) async throws -> Members {
    guard let token = try JSONValue(parsing: body)["purchaseToken"]?.string else { return [] }
    let before = try await purchase(token)
    guard let original = before.originalTransactionId,
      let current = try await store.ledger.purchase(.current(original))
    else { return try await signed(before) }
    return try await signed(current)
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

  private func perform(_ name: String, _ body: [UInt8]) async throws -> Members {
    func read<Request: JSONRecord>(_ type: Request.Type = Request.self) throws -> Request {
      try Request(control: body)
    }
    switch name {
    case "buy": return try await buy(read())
    case "approve", "decline":
      try await decide(read(DecisionControl.self).purchaseToken, isApproved: name == "approve")
    case "refund": try await refund(read())
    case "pause":
      let pause = try read(PauseControl.self)
      try require(pause.days, "days", in: 1...92)
      try await self.pause(pause.purchaseToken, days: Int(pause.days))
    case "push": try await setPush(read())
    case "test-notification":
      try requireNoMembers(body)
      try await store.exclusively { [store] in
        try await store.post("testNotification", .members(("version", .string("1.0"))))
      }
    case "forge": return try await forge(read())
    case "rotate-keys":
      let rotation = try read(KeyRotationControl.self)
      try require(rotation.maxAge, "maxAge", in: 0...86_400)
      if let age = rotation.maxAge { play.keys.setLongestAge(age) }
      try play.keys.rotate(keepsOld: rotation.keepsOld)
    case "revoke-tokens":
      try requireNoMembers(body)
      play.tokens.revokeAll()
    case "quota":
      let quota = try read(QuotaControl.self)
      guard let bucket = quota.bucket else { throw Failure("The member \"bucket\" is missing.") }
      try require(quota.limit, "limit", in: 0...1_000_000)
      store.quotas.setLimit(quota.limit, of: bucket)
    case "permissions": setPermissions(try read())
    default: throw Failure("There is no such control: POST play/\(name).")
    }
    return []
  }

  private func requireNoMembers(_ body: [UInt8]) throws {
    guard try JSONValue(parsing: body) == .object([]) else { throw Failure("The control has no members.") }
  }

  private func require<Number>(_ number: Number?, _ name: String, in range: ClosedRange<Number>) throws {
    if let number, !(range ~= number) {
      throw Failure("\"\(name)\" is not a whole number of \(range.lowerBound) to \(range.upperBound).")
    }
  }

  private func setPush(_ control: PushControl) async throws {
    try require(control.duplicates, "duplicates", in: 0...100)
    store.withSettings { settings in
      if let url = control.url { settings.push.url = url.isEmpty ? nil : url }
      if let audience = control.audience { settings.push.audience = audience.isEmpty ? nil : audience }
      if let email = control.email { settings.push.email = email }
      if let subscription = control.subscription { settings.push.name = subscription }
    }
    guard let duplicates = control.duplicates else { return }
    try await store.exclusively { [store] in
      var header = try await store.ledger.header()
      header.duplicates = duplicates
      try await store.ledger.commit(PlayLedger.Change(header))
    }
  }

  private func setPermissions(_ control: PermissionsControl) {
    let changes: [(PlayRoute.Permission, Bool?)] = [
      (.viewFinancialData, control.viewFinancialData), (.manageOrders, control.manageOrders),
      (.viewApp, control.viewApp),
    ]
    store.withSettings { settings in
      for (permission, isGranted) in changes {
        switch isGranted {
        case true?: settings.permissions.insert(permission)
        case false?: settings.permissions.remove(permission)
        case nil: break
        }
      }
    }
  }

  private func refund(_ control: PlayRefundControl) async throws {
    let order = control.orderId
    let (source, reason) = (control.source.number, control.reason.number)
    try await store.exclusively { [store] in
      guard let purchase = try await store.ledger.purchase(.order(order)),
        let transaction = purchase.orders.first(where: { $0.orderId == order })?.transactionId
      else { throw Failure("There is no order \"\(order)\" that was charged for.") }
      try await store.refund(transaction, of: purchase, source: source, reason: reason, amount: .full)
    }
  }

  /// Pushes a test notification whose token has a fault, once.
  private func forge(_ control: ForgeControl) async throws -> Members {
    guard let sender = store.pushSender, store.withSettings({ $0.push.url }) != nil else {
      throw Failure("There is no push endpoint. Set one with POST play/push.")
    }
    var message = PlayMessage()
    message.messageId = PlayMessage.newIdentifier()
    message.publishDate = store.now
    message.notification = PlayMessage.notification(
      "testNotification", .members(("version", .string("1.0"))), of: store.packageName, at: store.now)
    let (status, failure) = await sender.push(message, control.fault)
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

enum VoidingSource: String, ControlChoice {
  case user, developer, google
}

enum VoidingReason: String, ControlChoice {
  case other, remorse
  case notReceived = "not-received"
  case defective
  case accidentalPurchase = "accidental-purchase"
  case fraud
  case friendlyFraud = "friendly-fraud"
  case chargeback, unacknowledged
}

extension ControlChoice where AllCases == [Self], Self: Equatable {
  /// Google's number for a value. The cases are declared in the order of the numbers.
  fileprivate var number: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }
}

extension PushTokenFault: ControlChoice {}
extension PlayQuotas.Bucket: ControlChoice {}
