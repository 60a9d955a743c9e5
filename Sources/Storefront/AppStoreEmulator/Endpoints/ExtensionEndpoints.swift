// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoints that extend renewal dates, of one or many subscriptions.
enum ExtensionEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/subscriptions/extend/{}", extendOne),
    Route("POST", "/inApps/v1/subscriptions/extend/mass", extendMany),
    Route("GET", "/inApps/v1/subscriptions/extend/mass/{}/{}", status),
  ]

  private static let year: Double = 365 * 86_400
  private static let extensionsPerYear = 2

  @Sendable static func extendOne(_ call: EndpointCall) async throws -> RemoteResponse {
    let identifier = call.parameter()
    guard EndpointCall.isTransactionIdentifier(identifier) else { throw Refusal.invalidOriginalTransactionId }
    let body = try call.body()
    let days = try days(body)
    guard let requestIdentifier = body["requestIdentifier"]?.string, 1...128 ~= requestIdentifier.count else {
      throw Refusal.invalidRequestIdentifier
    }
    let transaction = try await extend(identifier, by: days, call)
    return .json([
      "originalTransactionId": identifier, "webOrderLineItemId": transaction.webOrderLineItemId,
      "success": true, "effectiveDate": transaction.expiresDate,
    ])
  }

  @Sendable static func extendMany(_ call: EndpointCall) async throws -> RemoteResponse {
    let body = try call.body()
    let days = try days(body)
    guard let key = body["requestIdentifier"]?.uuid else { throw Refusal.invalidRequestIdentifier }
    guard let productId = body["productId"]?.string, !productId.isEmpty else {
      throw Refusal.invalidProductId
    }
    let storefronts = try storefronts(body)
    // The request identifier makes requests idempotent.
    let isNew = call.store.state.withState { state in
      guard state.massExtensions[key] == nil else { return false }
      state.massExtensions[key] = .init(
        productId: productId, completed: call.now, succeeded: 0, failed: 0,
        pendingAnswers: state.pendingAnswers)
      return true
    }
    if isNew {
      let sent = try await call.purchases.perform(
        .extendAll(of: productId, byDays: Int(days), in: storefronts))
      let failed = Int64(sent.count { $0.type == .renewalExtension })
      let succeeded = Int64(sent.count { $0.type == .renewalExtended })
      call.store.state.withState {
        $0.massExtensions[key]?.succeeded = succeeded
        $0.massExtensions[key]?.failed = failed
      }
      let configuration = call.configuration
      let summary = Notification().with {
        $0.notificationType = .renewalExtension
        $0.subtype = .summary
        $0.summary = NotificationSummary().with {
          $0.environment = configuration.environment
          $0.appAppleId = configuration.appAppleId
          $0.bundleId = configuration.bundleId
          $0.productId = productId
          $0.requestIdentifier = UUIDString(rawValue: key)
          $0.storefrontCountryCodes = storefronts?.sorted() ?? []
          $0.succeededCount = succeeded
          $0.failedCount = failed
        }
      }
      try await call.purchases.post(summary)
    }
    return .json(["requestIdentifier": body["requestIdentifier"]])
  }

  @Sendable static func status(_ call: EndpointCall) throws -> RemoteResponse {
    let productId = call.parameter(0)
    let key = try call.uuid(1, orElse: .invalidRequestIdentifier)
    return try call.store.state.withState { state in
      guard let found = state.massExtensions[key], found.productId == productId else {
        throw Refusal.statusRequestNotFound
      }
      let isComplete = found.pendingAnswers == 0
      if !isComplete { state.massExtensions[key]?.pendingAnswers -= 1 }
      return .json([
        "requestIdentifier": call.parameter(1), "complete": isComplete,
        "completeDate": isComplete ? found.completed : nil,
        "succeededCount": isComplete ? found.succeeded : nil, "failedCount": isComplete ? found.failed : nil,
      ])
    }
  }

  /// Extends a subscription. It must be active and paid for, and can be extended twice in 365 days.
  private static func extend(
    _ original: String, by days: Int64, _ call: EndpointCall
  ) async throws -> JWSTransaction {
    let found = try await call.purchases.subscriptionState(original)?.subscription
    guard let subscription = found else { throw Refusal.originalTransactionIdNotFound }
    guard subscription.transaction.inAppOwnershipType != .familyShared else {
      throw Refusal.familySharedExtensionIneligible
    }
    do throws(LocalStoreError) {
      try await call.purchases.perform(.extend(original, byDays: Int(days)))
    } catch {
      guard error.code == .refused else { throw error }
      let yearAgo = call.now.addingSeconds(-year)
      throw subscription.extensionDates.count { $0 > yearAgo } >= extensionsPerYear
        ? Refusal.subscriptionMaximumExtensionsReached : Refusal.subscriptionExtensionIneligible
    }
    return try await call.purchases.subscriptionState(original)?.subscription.transaction
      ?? subscription.transaction
  }

  private static func days(_ body: JSONValue) throws -> Int64 {
    guard let days = body["extendByDays"]?.int64, 1...90 ~= days else { throw Refusal.invalidExtendByDays }
    guard let reason = body["extendReasonCode"]?.int64, 0...3 ~= reason else {
      throw Refusal.invalidExtendReasonCode
    }
    return days
  }

  /// The storefronts in the body; `nil` for all storefronts.
  private static func storefronts(_ body: JSONValue) throws -> Set<String>? {
    guard let value = body["storefrontCountryCodes"] else { return nil }
    guard let codes = value.array else { throw Refusal.invalidStorefrontCountryCode }
    guard !codes.isEmpty else { throw Refusal.emptyStorefrontCountryCodeList }
    let texts = codes.map { $0.string ?? "" }
    guard texts.allSatisfy({ $0.utf8.count == 3 && $0.utf8.allSatisfy { 0x41...0x5A ~= $0 } }) else {
      throw Refusal.invalidStorefrontCountryCode
    }
    return Set(texts)
  }
}
