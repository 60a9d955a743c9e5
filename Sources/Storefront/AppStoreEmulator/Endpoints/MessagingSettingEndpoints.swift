// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// The endpoints for default messages, the realtime URL and performance tests of retention messaging.
enum MessagingSettingEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/messaging/default/{}/{}", setDefault),
    Route("GET", "/inApps/v1/messaging/default/{}/{}", getDefault),
    Route("DELETE", "/inApps/v1/messaging/default/{}/{}", deleteDefault),
    Route("PUT", "/inApps/v1/messaging/realtime/url", setURL),
    Route("GET", "/inApps/v1/messaging/realtime/url", getURL),
    Route("DELETE", "/inApps/v1/messaging/realtime/url", deleteURL),
    Route("POST", "/inApps/v1/messaging/performanceTest", startTest),
    Route("GET", "/inApps/v1/messaging/performanceTest/result/{}", testResult),
  ]

  private static let longestURL = 256

  @Sendable static func setDefault(_ call: EndpointCall) throws -> RemoteResponse {
    let key = try defaultKey(call)
    guard let identifier = try call.body()["messageIdentifier"]?.uuid else { throw Refusal.generalBadRequest }
    try call.store.state.withState { state in
      guard let message = state.messaging.messages[identifier] else { throw Refusal.messageNotFound }
      guard message.state == "APPROVED" else { throw Refusal.messageNotApproved }
      state.messaging.defaults[key] = identifier
    }
    return .empty()
  }

  @Sendable static func getDefault(_ call: EndpointCall) throws -> RemoteResponse {
    guard let identifier = call.state.messaging.defaults[try defaultKey(call)] else {
      throw Refusal.defaultMessageNotFound
    }
    return .json(("messageIdentifier", .string(identifier)))
  }

  @Sendable static func deleteDefault(_ call: EndpointCall) throws -> RemoteResponse {
    let key = try defaultKey(call)
    let removed = call.store.state.withState { $0.messaging.defaults.removeValue(forKey: key) }
    guard removed != nil else { throw Refusal.defaultMessageNotFound }
    return .empty()
  }

  private static func defaultKey(_ call: EndpointCall) throws -> String {
    let (product, locale) = (call.parameter(0), call.parameter(1))
    guard 1...255 ~= product.utf8.count else { throw Refusal.invalidProductId }
    guard 2...20 ~= locale.utf8.count,
      locale.utf8.allSatisfy({
        0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D || $0 == 0x5F
      })
    else { throw Refusal.invalidLocale }
    return "\(product)\u{0}\(locale)"
  }

  @Sendable static func setURL(_ call: EndpointCall) throws -> RemoteResponse {
    guard let url = try call.body()["realtimeURL"]?.string, url.hasPrefix("https://"),
      url.utf8.count <= longestURL
    else { throw Refusal.invalidRealtimeURL }
    let isProduction = call.configuration.environment == .production
    try call.store.state.withState { state in
      guard !isProduction || state.hasPassedPerformanceTest else {
        throw Refusal.noPassingPerformanceTest
      }
      state.messaging.realtimeURL = url
    }
    return .empty()
  }

  @Sendable static func getURL(_ call: EndpointCall) throws -> RemoteResponse {
    guard let url = call.state.messaging.realtimeURL else { throw Refusal.realtimeURLNotFound }
    return .json(("realtimeURL", .string(url)))
  }

  @Sendable static func deleteURL(_ call: EndpointCall) throws -> RemoteResponse {
    try call.store.state.withState { state in
      guard state.messaging.realtimeURL.take() != nil else { throw Refusal.realtimeURLNotFound }
    }
    return .empty()
  }

  @Sendable static func startTest(_ call: EndpointCall) async throws -> RemoteResponse {
    guard let original = try call.body()["originalTransactionId"]?.string,
      EndpointCall.isTransactionIdentifier(original)
    else { throw Refusal.invalidPerformanceTestRequest }
    let identifier = DeveloperSigner.randomNonce().rawValue
    guard try await call.purchases.subscriptionState(original) != nil else {
      throw Refusal.originalTransactionIdNotFound
    }
    try call.store.state.withState { state in
      guard state.messaging.performanceTests.values.allSatisfy({ $0 == 0 }) else {
        throw Refusal.performanceTestExists
      }
      state.messaging.performanceTests[identifier] = state.pendingAnswers
    }
    return .json(("config", testConfiguration), ("requestId", .string(identifier)))
  }

  @Sendable static func testResult(_ call: EndpointCall) throws -> RemoteResponse {
    let key = try call.uuid(orElse: .invalidPerformanceTestRequestId)
    let (isPending, url) = try call.store.state.withState { state in
      guard let pendingAnswers = state.messaging.performanceTests[key] else {
        throw Refusal.performanceTestNotFound
      }
      let isPending = pendingAnswers > 0
      state.messaging.performanceTests[key] = max(0, pendingAnswers - 1)
      state.hasPassedPerformanceTest = state.hasPassedPerformanceTest || !isPending
      return (isPending, state.messaging.realtimeURL)
    }
    return .json(
      ("config", testConfiguration), ("target", .string(url ?? "https://example.com/realtime")),
      ("result", .string(isPending ? "PENDING" : "PASS")), ("successRate", .integer(isPending ? 0 : 100)),
      ("numPending", .integer(isPending ? 1000 : 0)),
      (
        "responseTimes",
        .members(
          ("average", .integer(40)), ("p50", .integer(35)), ("p90", .integer(60)), ("p95", .integer(80)),
          ("p99", .integer(120)))
      ), ("failures", .object([])))
  }

  private static let testConfiguration = JSONValue.members(
    ("maxConcurrentRequests", .integer(10)), ("totalRequests", .integer(1000)),
    ("totalDuration", .integer(60_000)), ("responseTimeThreshold", .integer(500)),
    ("successRateThreshold", .integer(99)))
}
