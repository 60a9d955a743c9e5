// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// Default messages, the realtime URL and performance tests of retention messaging.
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

  @Sendable static func setDefault(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let key = try defaultKey(call)
    guard
      let message = try call.body()["messageIdentifier"]?.string.flatMap({ UUIDString(rawValue: $0).uuid })
    else { throw .generalBadRequest }
    let identifier = UUIDString(message).rawValue
    try call.store.state.change { (state) throws(EmulatorError) in
      guard let message = state.messaging.messages[identifier] else { throw .messageNotFound }
      guard message.state == "APPROVED" else { throw .messageNotApproved }
      state.messaging.defaults[key] = identifier
    }
    return .empty()
  }

  @Sendable static func getDefault(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let key = try defaultKey(call)
    let identifier = call.store.state.withState { $0.messaging.defaults[key] }
    guard let identifier else { throw .defaultMessageNotFound }
    return .json(.members(("messageIdentifier", .string(identifier))))
  }

  @Sendable static func deleteDefault(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let key = try defaultKey(call)
    let removed = call.store.state.withState { $0.messaging.defaults.removeValue(forKey: key) }
    guard removed != nil else { throw .defaultMessageNotFound }
    return .empty()
  }

  private static func defaultKey(_ call: EndpointCall) throws(EmulatorError) -> String {
    let (product, locale) = (call.parameter(0), call.parameter(1))
    guard 1...255 ~= product.utf8.count else { throw .invalidProductId }
    guard 2...20 ~= locale.utf8.count,
      locale.utf8.allSatisfy({
        0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D || $0 == 0x5F
      })
    else { throw .invalidLocale }
    return "\(product)\u{0}\(locale)"
  }

  @Sendable static func setURL(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    guard let url = try call.body()["realtimeURL"]?.string, url.hasPrefix("https://"),
      url.utf8.count <= longestURL
    else { throw .invalidRealtimeURL }
    let isProduction = call.configuration.environment == .production
    try call.store.state.change { (state) throws(EmulatorError) in
      guard !isProduction || state.messaging.hasPassedPerformanceTest else { throw .noPassingPerformanceTest }
      state.messaging.realtimeURL = url
    }
    return .empty()
  }

  @Sendable static func getURL(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    guard let url = call.store.state.withState({ $0.messaging.realtimeURL }) else {
      throw .realtimeURLNotFound
    }
    return .json(.members(("realtimeURL", .string(url))))
  }

  @Sendable static func deleteURL(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    try call.store.state.change { (state) throws(EmulatorError) in
      guard state.messaging.realtimeURL != nil else { throw .realtimeURLNotFound }
      state.messaging.realtimeURL = nil
    }
    return .empty()
  }

  @Sendable static func startTest(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    guard let original = try call.body()["originalTransactionId"]?.string,
      EndpointCall.isTransactionIdentifier(original)
    else { throw .invalidPerformanceRequest }
    let identifier = DeveloperSigner.randomNonce().rawValue
    let subscription = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.subscriptionState(original)
    }
    guard subscription != nil else { throw .originalTransactionNotFound }
    try call.store.state.change { (state) throws(EmulatorError) in
      guard !state.messaging.performanceTests.values.contains(where: { $0.pendingAnswers > 0 }) else {
        throw .performanceTestExists
      }
      state.messaging.performanceTests[identifier] = .init(pendingAnswers: state.pendingAnswers)
    }
    return .json(.members(("config", testConfiguration), ("requestId", .string(identifier))))
  }

  @Sendable static func testResult(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    guard let uuid = UUIDString(rawValue: call.parameter()).uuid else { throw .invalidRequestId }
    let key = UUIDString(uuid).rawValue
    let (isPending, url) = try call.store.state.change { (state) throws(EmulatorError) -> (Bool, String?) in
      guard let test = state.messaging.performanceTests[key] else { throw .performanceTestNotFound }
      if test.pendingAnswers > 0 {
        state.messaging.performanceTests[key]?.pendingAnswers -= 1
      } else {
        state.messaging.hasPassedPerformanceTest = true
      }
      return (test.pendingAnswers > 0, state.messaging.realtimeURL)
    }
    return .json(
      .members(
        ("config", testConfiguration), ("target", .string(url ?? "https://example.com/realtime")),
        ("result", .string(isPending ? "PENDING" : "PASS")), ("successRate", .integer(isPending ? 0 : 100)),
        ("numPending", .integer(isPending ? 1000 : 0)),
        (
          "responseTimes",
          .members(
            ("average", .integer(40)), ("p50", .integer(35)), ("p90", .integer(60)), ("p95", .integer(80)),
            ("p99", .integer(120)))
        ), ("failures", .object([]))))
  }

  private static let testConfiguration = JSONValue.members(
    ("maxConcurrentRequests", .integer(10)), ("totalRequests", .integer(1000)),
    ("totalDuration", .integer(60_000)), ("responseTimeThreshold", .integer(500)),
    ("successRateThreshold", .integer(99)))
}
