// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Extensions of renewal dates, for one or many subscriptions.
enum ExtensionEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/subscriptions/extend/{}", extendOne),
    Route("POST", "/inApps/v1/subscriptions/extend/mass", extendMany),
    Route("GET", "/inApps/v1/subscriptions/extend/mass/{}/{}", status),
  ]

  private static let day: Double = 86_400
  private static let extensionsPerYear = 2

  @Sendable static func extendOne(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let identifier = call.parameter()
    guard EndpointCall.isTransactionIdentifier(identifier) else { throw .invalidOriginalTransactionId }
    let body = try call.body()
    let days = try days(body)
    guard let requestIdentifier = body["requestIdentifier"]?.string, 1...128 ~= requestIdentifier.count else {
      throw .invalidRequestIdentifier
    }
    let transaction = try call.store.state.change { (state) throws(EmulatorError) in
      try extend(identifier, by: days, &state, now: call.now)
    }
    return .json(
      .members(
        ("originalTransactionId", .string(identifier)),
        ("webOrderLineItemId", transaction.webOrderLineItemId.map { .string($0) }), ("success", .bool(true)),
        ("effectiveDate", transaction.expiresDate.map { .date($0) })))
  }

  @Sendable static func extendMany(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let body = try call.body()
    let days = try days(body)
    guard let requestIdentifier = body["requestIdentifier"]?.string,
      let uuid = UUIDString(rawValue: requestIdentifier).uuid
    else { throw .invalidRequestIdentifier }
    guard let productId = body["productId"]?.string, !productId.isEmpty else { throw .invalidProductId }
    let storefronts = try storefronts(body)
    call.store.state.withState { state in
      // Requests are idempotent by their identifier.
      let key = UUIDString(uuid).rawValue
      guard state.massExtensions[key] == nil else { return }
      var result = EmulatorState.MassExtension(
        productId: productId, completed: call.now, succeeded: 0, failed: 0,
        pendingAnswers: state.pendingAnswers)
      for (original, subscription) in state.subscriptions {
        guard let transaction = state.transactions[subscription.latestTransactionId]?.transaction,
          transaction.productId == productId,
          storefronts.map({ $0.contains(transaction.storefront ?? "") }) ?? true
        else { continue }
        do throws(EmulatorError) {
          _ = try extend(original, by: days, &state, now: call.now)
          result.succeeded += 1
        } catch {
          result.failed += 1
        }
      }
      state.massExtensions[key] = result
    }
    return .json(.members(("requestIdentifier", .string(requestIdentifier))))
  }

  @Sendable static func status(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let productId = call.parameter(0)
    guard let uuid = UUIDString(rawValue: call.parameter(1)).uuid else { throw .invalidRequestIdentifier }
    let key = UUIDString(uuid).rawValue
    return try call.store.state.change { (state) throws(EmulatorError) in
      guard let found = state.massExtensions[key], found.productId == productId else {
        throw .extensionStatusNotFound
      }
      let isComplete = found.pendingAnswers == 0
      if !isComplete { state.massExtensions[key]?.pendingAnswers -= 1 }
      return .json(
        .members(
          ("requestIdentifier", .string(call.parameter(1))), ("complete", .bool(isComplete)),
          ("completeDate", isComplete ? .date(found.completed) : nil),
          ("succeededCount", isComplete ? .integer(found.succeeded) : nil),
          ("failedCount", isComplete ? .integer(found.failed) : nil)))
    }
  }

  /// Only active, paid subscriptions can be extended, twice in 365 days.
  private static func extend(
    _ original: String, by days: Int64, _ state: inout EmulatorState, now: Timestamp
  ) throws(EmulatorError) -> JWSTransaction {
    guard let subscription = state.subscriptions[original],
      let transaction = state.transactions[subscription.latestTransactionId]?.transaction
    else { throw .originalTransactionNotFound }
    guard transaction.inAppOwnershipType != .familyShared else { throw .extensionFamilyShared }
    guard subscription.status == .active, transaction.offerDiscountType != .freeTrial,
      let expires = transaction.expiresDate
    else { throw .extensionIneligible }
    let recent = subscription.extensions.filter {
      now.millisecondsSince1970 - $0.millisecondsSince1970 < 365 * day * 1000
    }
    guard recent.count < extensionsPerYear else { throw .extensionMaximumReached }
    let extended = expires.addingSeconds(Double(days) * day)
    state.update(transaction: subscription.latestTransactionId) { $0.expiresDate = extended }
    state.subscriptions[original]?.extensions.append(now)
    state.subscriptions[original]?.renewalInfo.renewalDate = extended
    return state.transactions[subscription.latestTransactionId]?.transaction ?? transaction
  }

  private static func days(_ body: JSONValue) throws(EmulatorError) -> Int64 {
    guard let days = body["extendByDays"]?.int64, 1...90 ~= days else { throw .invalidExtendByDays }
    guard let reason = body["extendReasonCode"]?.int64, 0...3 ~= reason else {
      throw .invalidExtendReasonCode
    }
    return days
  }

  /// `nil` for all storefronts.
  private static func storefronts(_ body: JSONValue) throws(EmulatorError) -> Set<String>? {
    guard let value = body["storefrontCountryCodes"], !value.isNull else { return nil }
    guard let codes = value.array else { throw .invalidStorefrontCountryCode }
    guard !codes.isEmpty else { throw .invalidEmptyStorefrontList }
    var set: Set<String> = []
    for code in codes {
      guard let text = code.string, text.utf8.count == 3, text.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
        throw .invalidStorefrontCountryCode
      }
      set.insert(text)
    }
    return set
  }
}
