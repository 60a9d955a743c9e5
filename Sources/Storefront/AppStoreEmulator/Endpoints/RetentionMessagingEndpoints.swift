// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// The endpoints of retention messaging: images, messages, default messages, the realtime URL and performance tests.
enum RetentionMessagingEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/messaging/image/{}", uploadImage),
    Route("DELETE", "/inApps/v1/messaging/image/{}", deleteImage),
    Route("GET", "/inApps/v1/messaging/image/list") { call in
      .json([
        "imageIdentifiers": call.state.messaging.images.sorted { $0.key < $1.key }.map {
          ["imageIdentifier": $0.key, "imageState": $0.value.state, "imageSize": $0.value.size] as JSONMembers
        }
      ])
    },
    Route("PUT", "/inApps/v1/messaging/message/{}", uploadMessage),
    Route("DELETE", "/inApps/v1/messaging/message/{}") { call in
      let identifier = try call.uuid()
      return try call.change(orElse: .messageNotFound) {
        $0.messaging.messages.removeValue(forKey: identifier)
      }
    },
    Route("GET", "/inApps/v1/messaging/message/list") { call in
      .json([
        "messageIdentifiers": call.state.messaging.messages.sorted { $0.key < $1.key }.map {
          ["messageIdentifier": $0.key, "messageState": $0.value.state] as JSONMembers
        }
      ])
    },
    Route("PUT", "/inApps/v1/messaging/default/{}/{}", setDefault),
    Route("GET", "/inApps/v1/messaging/default/{}/{}") { call in
      guard let identifier = call.state.messaging.defaults[try defaultKey(call)] else {
        throw Refusal.defaultMessageNotFound
      }
      return .json(["messageIdentifier": identifier])
    },
    Route("DELETE", "/inApps/v1/messaging/default/{}/{}") { call in
      let key = try defaultKey(call)
      return try call.change(orElse: .defaultMessageNotFound) {
        $0.messaging.defaults.removeValue(forKey: key)
      }
    },
    Route("PUT", "/inApps/v1/messaging/realtime/url", setURL),
    Route("GET", "/inApps/v1/messaging/realtime/url") { call in
      guard let url = call.state.messaging.realtimeURL else { throw Refusal.realtimeURLNotFound }
      return .json(["realtimeURL": url])
    },
    Route("DELETE", "/inApps/v1/messaging/realtime/url") { call in
      try call.change(orElse: .realtimeURLNotFound) { $0.messaging.realtimeURL.take() }
    },
    Route("POST", "/inApps/v1/messaging/performanceTest", startTest),
    Route("GET", "/inApps/v1/messaging/performanceTest/result/{}", testResult),
  ]

  private static let greatestCount = 2000

  // MARK: - Images

  private static let portableNetworkGraphics: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  @Sendable private static func uploadImage(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    let size = try call.value("imageSize", orElse: .invalidImageSize) ?? "FULL_SIZE"
    guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw Refusal.invalidImageSize }
    guard call.request.body.starts(with: portableNetworkGraphics),
      call.request.header("Content-Type")?.lowercased() == "image/png"
    else { throw Refusal.invalidImage }
    return try call.change { state in
      guard state.messaging.images[identifier] == nil else { throw Refusal.imageExists }
      guard state.messaging.images.count < greatestCount else {
        throw Refusal.tooManyImages
      }
      state.messaging.images[identifier] = (state.stateOfUploads, size)
    }
  }

  @Sendable private static func deleteImage(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    return try call.change { state in
      guard state.messaging.images[identifier] != nil else { throw Refusal.imageNotFound }
      guard !state.messaging.messages.values.contains(where: { $0.imageIdentifiers.contains(identifier) })
      else { throw Refusal.imageInUse }
      state.messaging.images[identifier] = nil
    }
  }

  // MARK: - Messages

  private static let longestHeader = 66
  private static let longestBody = 144
  private static let longestAltText = 150
  private static let mostBulletPoints = 5

  @Sendable private static func uploadMessage(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    let imageIdentifiers = try check(call.body())
    return try call.change { state in
      guard state.messaging.messages[identifier] == nil else { throw Refusal.messageExists }
      guard state.messaging.messages.count < greatestCount else {
        throw Refusal.tooManyMessages
      }
      for image in imageIdentifiers {
        guard let image = state.messaging.images[image] else { throw Refusal.imageNotFound }
        guard image.state == "APPROVED" else { throw Refusal.imageNotApproved }
      }
      state.messaging.messages[identifier] = (state.stateOfUploads, imageIdentifiers)
    }
  }

  /// - Returns: The identifiers of the message's images.
  private static func check(_ body: JSONValue) throws -> [String] {
    guard let header = body["header"]?.string, let text = body["body"]?.string else {
      throw Refusal.generalBadRequest
    }
    guard header.count <= longestHeader else { throw Refusal.headerTooLong }
    guard text.count <= longestBody else { throw Refusal.bodyTooLong }
    var images: [String] = []
    let image = body["image"]
    if let image { images.append(try checkImage(image)) }
    switch body["headerPosition"]?.string {
    case nil, "ABOVE_BODY": break
    case "ABOVE_IMAGE": if image == nil { throw Refusal.headerAboveMissingImage }
    default: throw Refusal.generalBadRequest
    }
    let bulletPoints = body["bulletPoints"]?.array ?? []
    guard bulletPoints.count <= mostBulletPoints else { throw Refusal.tooManyBulletPoints }
    for point in bulletPoints {
      guard let text = point["text"]?.string else { throw Refusal.generalBadRequest }
      guard text.count <= longestHeader else { throw Refusal.bulletPointTextTooLong }
      images.append(try checkImage(point))
    }
    return images
  }

  private static func checkImage(_ image: JSONValue) throws -> String {
    guard let identifier = image["imageIdentifier"]?.uuid, let altText = image["altText"]?.string else {
      throw Refusal.generalBadRequest
    }
    guard altText.count <= longestAltText else { throw Refusal.altTextTooLong }
    return identifier
  }

  // MARK: - Settings

  private static let longestURL = 256

  @Sendable private static func setDefault(_ call: EndpointCall) throws -> RemoteResponse {
    let key = try defaultKey(call)
    guard let identifier = try call.body()["messageIdentifier"]?.uuid else { throw Refusal.generalBadRequest }
    return try call.change { state in
      guard let message = state.messaging.messages[identifier] else { throw Refusal.messageNotFound }
      guard message.state == "APPROVED" else { throw Refusal.messageNotApproved }
      state.messaging.defaults[key] = identifier
    }
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

  @Sendable private static func setURL(_ call: EndpointCall) throws -> RemoteResponse {
    guard let url = try call.body()["realtimeURL"]?.string, url.hasPrefix("https://"),
      url.utf8.count <= longestURL
    else { throw Refusal.invalidRealtimeURL }
    let isProduction = call.configuration.environment == .production
    return try call.change { state in
      guard !isProduction || state.hasPassedPerformanceTest else { throw Refusal.noPassingPerformanceTest }
      state.messaging.realtimeURL = url
    }
  }

  // MARK: - Performance tests

  private static let testConfiguration: JSONMembers = [
    "maxConcurrentRequests": 10, "totalRequests": 1000, "totalDuration": 60_000,
    "responseTimeThreshold": 500, "successRateThreshold": 99,
  ]

  @Sendable private static func startTest(_ call: EndpointCall) async throws -> RemoteResponse {
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
    return .json(["config": testConfiguration, "requestId": identifier])
  }

  @Sendable private static func testResult(_ call: EndpointCall) throws -> RemoteResponse {
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
    return .json([
      "config": testConfiguration, "target": url ?? "https://example.com/realtime",
      "result": isPending ? "PENDING" : "PASS", "successRate": isPending ? 0 : 100,
      "numPending": isPending ? 1000 : 0,
      "responseTimes": ["average": 40, "p50": 35, "p90": 60, "p95": 80, "p99": 120] as JSONMembers,
      "failures": JSONMembers(),
    ])
  }
}
