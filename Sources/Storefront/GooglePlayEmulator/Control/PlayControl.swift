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

  /// The engine's own controls that mean the same here. A purchase is named by its token.
  private static let engineControls: Set<String> = [
    "billing", "price", "consent", "sale", "advance", "clock", "state", "cancel", "resume", "change", "renew",
    "delete-account",
  ]

  func respond(to request: EmulatorRequest, name: String) async -> RemoteResponse {
    do {
      // Controls of the engine that only read or set values that tests need.
      if name == "faults" || name == "statistics" { return try await forward(request, name, request.body) }
      if request.method == "GET" { return .json(try await read(name, request)) }
      guard request.method == "POST" else { throw Failure("The method of a control is POST.") }
      // Events so far are processed and pushed at once.
      try await store.performDue()
      let before = name == "state" ? Int64.max : try await store.ledger.header().messageCount
      var answer: JSONMembers = [:]
      if name == "resume", let token = try JSONValue(parsing: request.body)["purchaseToken"]?.string,
        try await store.ledger.purchase(token: token)?.pauseDate != nil
      {
        _ = try DecisionControl(control: request.body)
        try await endPause(of: token)
      } else if Self.engineControls.contains(name) {
        let response = try await forward(request, name, try await translated(request.body, of: name))
        guard response.status == 200 else { return response }
        // The engine's own notifications are the App Store's, so they are left out.
        answer = try Self.members(of: response.body, without: "notifications")
      } else {
        answer = try await perform(name, request.body)
      }
      try await store.performDue()
      if name == "change" { answer += try await successor(request.body) }
      if name != "state" { answer += ["messages": try await messages(after: before)] }
      return .json(answer)
    } catch {
      return .json(["error": (error as? PlayError)?.message ?? "\(error)"], status: 400)
    }
  }

  private static func members(of body: [UInt8], without name: String = "") throws -> JSONMembers {
    JSONMembers((try JSONValue(parsing: body).object ?? []).filter { $0.name != name })
  }

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
  private func translated(_ body: [UInt8], of name: String) async throws -> [UInt8] {
    let json = try JSONValue(parsing: body)
    guard let token = json["purchaseToken"]?.string else { return body }
    let purchase = try await purchase(token)
    guard purchase.endDate == nil, let original = purchase.originalTransactionId else {
      throw Failure("The purchase \"\(token)\" was not paid for, or was replaced by another one.")
    }
    if name == "resume", purchase.canceller == .developer {
      throw Failure("The developer cancelled the subscription: the customer cannot restore it.")
    }
    let others = try Self.members(of: body, without: "purchaseToken")
    return (others + ["originalTransactionId": original]).encoded()
  }

  /// The purchase that replaced the one in the request, as the app receives it.
  private func successor(_ body: [UInt8]) async throws -> JSONMembers {
    guard let token = try JSONValue(parsing: body)["purchaseToken"]?.string else { return [:] }
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

  private func read(_ name: String, _ request: EmulatorRequest) async throws -> JSONMembers {
    switch name {
    case "messages":
      return ["messages": try await messages(after: request.value("after").flatMap { Int64($0) } ?? 0)]
    case "purchase": return try await signed(purchase(request.value("token") ?? ""))
    case "key": return ["publicKey": try await store.publicKey()]
    case "token-faults": return ["faults": PushTokenFault.allCases.map(\.rawValue)]
    case "refund-review": return try await review(of: request.value("orderId") ?? "")
    case "clock", "state": return try Self.members(of: await forward(request, name, []).body)
    default: throw Failure("There is no such control: GET play/\(name).")
    }
  }

  private func perform(_ name: String, _ body: [UInt8]) async throws -> JSONMembers {
    func read<Request: JSONRecord>(_ type: Request.Type = Request.self) throws -> Request {
      try Request(control: body)
    }
    switch name {
    case "buy": return try await buy(read())
    case "approve", "decline":
      try await decide(read(DecisionControl.self).purchaseToken, isApproved: name == "approve")
    case "refund": try await refund(read())
    case "chargeback": return try await dispute(read(ChargebackControl.self).orderId)
    case "decide-refund": try await decideDispute(read())
    case "pause":
      let pause = try read(PauseControl.self)
      try require(pause.days, "days", in: 1...92)
      try await self.pause(pause.purchaseToken, days: Int(pause.days))
    case "push": try await setPush(read())
    case "test-notification":
      try requireNoMembers(body)
      try await store.exclusively { [store] in
        try await store.post("testNotification", ["version": "1.0"])
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
    return [:]
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
    store.settings.withState { settings in
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
    store.settings.withState { settings in
      for case (let permission, let isGranted?) in changes {
        settings.permissions.remove(permission)
        if isGranted { settings.permissions.insert(permission) }
      }
    }
  }

  private func refund(_ control: PlayRefundControl) async throws {
    try await store.exclusively { [store] in
      let (purchase, _, transaction) = try await store.chargedOrder(control.orderId)
      try await store.refund(
        transaction, of: purchase, source: control.source.number, reason: control.reason.number, amount: .full
      )
    }
  }

  /// Opens the review of a disputed order.
  private func dispute(_ orderId: String) async throws -> JSONMembers {
    let token = PlayLedger.newToken()
    try await store.exclusively { [store] in
      var (purchase, index, _) = try await store.chargedOrder(orderId)
      let order = purchase.orders[index]
      guard !order.isRefunded, order.voidedSource == nil, order.review?.isOpen != true else {
        throw Failure("The order \"\(orderId)\" was refunded, or has a pending review.")
      }
      purchase.orders[index].review = PlayRefundReview().with {
        $0.token = token
        $0.date = store.now
      }
      try await store.post(
        "pendingRefundReviewNotification",
        [
          "version": "1.0", "pendingRefundToken": token, "orderId": orderId,
          "refundReason": VoidingReason.chargeback.number,
          "obfuscatedAccountId": purchase.obfuscatedAccountId,
          "obfuscatedProfileId": purchase.obfuscatedProfileId,
        ], storing: purchase)
    }
    return ["pendingRefundToken": token]
  }

  /// Closes the review of a disputed order.
  private func decideDispute(_ control: DecideRefundControl) async throws {
    try await store.exclusively { [store] in
      var (purchase, index, transaction) = try await store.chargedOrder(control.orderId)
      guard purchase.orders[index].review?.isOpen == true else {
        throw Failure("The order \"\(control.orderId)\" has no pending review.")
      }
      purchase.orders[index].review?.isRefunded = control.isRefunded
      if control.isRefunded {
        return try await store.refund(
          transaction, of: purchase, source: VoidingSource.google.number,
          reason: VoidingReason.chargeback.number, amount: .full)
      }
      try await store.ledger.put(purchase)
    }
  }

  private func review(of orderId: String) async throws -> JSONMembers {
    let (purchase, index, _) = try await store.chargedOrder(orderId)
    guard let review = purchase.orders[index].review else {
      throw Failure("The order \"\(orderId)\" has no review.")
    }
    return [
      "orderId": orderId, "pendingRefundToken": review.token, "date": review.date, "answer": review.answer,
      "answerDate": review.answerDate, "isRefunded": review.isRefunded,
    ]
  }

  /// Pushes a test notification whose token has a fault, once.
  private func forge(_ control: ForgeControl) async throws -> JSONMembers {
    guard let sender = store.pushSender, store.settings.withState({ $0.push.url }) != nil else {
      throw Failure("There is no push endpoint. Set one with POST play/push.")
    }
    let message = PlayMessage("testNotification", ["version": "1.0"], of: store.packageName, at: store.now)
    let (status, failure) = await sender.push(message, control.fault)
    return ["messageId": message.messageId, "status": status, "failure": failure]
  }

  // MARK: - Answers

  /// A purchase as the app receives it.
  func signed(_ purchase: PlayPurchase) async throws -> JSONMembers {
    let view = try await PlayView(purchase, in: store.ledger.store)
    var answer: JSONMembers = ["purchaseToken": purchase.token, "orderId": purchase.orders.last?.orderId]
    if purchase.state == .pending { answer += ["pending": true] }
    return try await store.exclusively { [store, answer] in answer + (try await store.signedPurchase(view)) }
  }

  private func messages(after number: Int64) async throws -> [JSONMembers] {
    try await store.ledger.messages(after: number, limit: 10_000).map { message in
      [
        "number": message.number, "messageId": message.messageId, "publishTime": message.publishDate,
        "notification": message.notification,
        "attempts": message.attempts.map {
          ["date": $0.date, "status": $0.status, "failure": $0.failure] as JSONMembers
        }, "nextAttempt": message.nextAttempt,
      ]
    }
  }
}

extension EmulatedPlayStore {
  /// An order that was charged for, the purchase that it is of, and the transaction that charged for it.
  fileprivate func chargedOrder(
    _ orderId: String
  ) async throws -> (purchase: PlayPurchase, index: Int, transaction: String) {
    guard let purchase = try await ledger.purchase(.order(orderId)),
      let index = purchase.orders.firstIndex(where: { $0.orderId == orderId }),
      let transaction = purchase.orders[index].transactionId
    else { throw PlayControl.Failure("There is no order \"\(orderId)\" that was charged for.") }
    return (purchase, index, transaction)
  }
}

extension ControlChoice where AllCases == [Self], Self: Equatable {
  /// Google's number for a value.
  fileprivate var number: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }
}
