// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import ReceiptHTTP
internal import Storefront
internal import Synchronization

/// An endpoint of the Play Developer API, below `/androidpublisher/v3/applications/{packageName}`.
struct PlayRoute: Sendable {
  typealias Answer = @Sendable (PlayCall) async throws -> RemoteResponse

  let pattern: RoutePattern
  let bucket: PlayQuotas.Bucket
  let permission: Permission
  let answer: Answer

  init(
    _ method: String, _ path: String, _ bucket: PlayQuotas.Bucket, _ permission: Permission = .viewApp,
    _ answer: @escaping Answer
  ) {
    pattern = RoutePattern(method, path)
    self.bucket = bucket
    self.permission = permission
    self.answer = answer
  }

  static let all: [PlayRoute] =
    ProductEndpoints.routes + SubscriptionEndpoints.routes + OrderEndpoints.routes
    + ExternalTransactionEndpoints.routes + CatalogEndpoints.routes

  /// The route of a path, and the segments for its `{}`.
  static func match(_ method: String, _ path: [String]) -> (route: PlayRoute, parameters: [String])? {
    for route in all where route.pattern.method == method {
      // A segment with a verb belongs to another method.
      if let parameters = route.pattern.parameters(path, where: { !$0.contains(":") }) {
        return (route, parameters)
      }
    }
    return nil
  }
}

/// A request and the arguments from its path.
struct PlayCall {
  let play: EmulatedPlayStore
  let request: EmulatorRequest
  let parameters: [String]
  let now: Timestamp

  var ledger: PlayLedger { play.ledger }

  /// The path segment that matched the pattern's nth `{}`.
  func parameter(_ index: Int) -> String { parameters.indices.contains(index) ? parameters[index] : "" }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(PlayError) -> Int64? {
    try parsed(name) { Int64($0).flatMap { range ~= $0 ? $0 : nil } }
  }

  func flag(_ name: String) throws(PlayError) -> Bool { try parsed(name) { Bool($0) } ?? false }

  private func parsed<Value>(
    _ name: String, _ parse: (String) -> Value?
  ) throws(PlayError) -> Value? {
    guard let text = request.value(name) else { return nil }
    guard let value = parse(text) else {
      throw .invalidArgument("Invalid value at '\(name)': \"\(text.prefix(40))\"")
    }
    return value
  }

  /// The body, with the rules that the client checks before it sends one. An empty body counts as an empty object.
  func body<Body: WireRequest>(_ type: Body.Type) throws(PlayError) -> Body {
    let bytes = request.body.isEmpty ? Array("{}".utf8) : request.body
    let body: Body
    do throws(MalformedReceipt) { body = try Body(json: bytes, part: "request", limits: .standard) } catch {
      throw .invalidArgument("Invalid JSON payload received. \(error.description)")
    }
    try require { limits in
      body.checkFields(&limits, at: "$")
      body.checkRules(&limits)
    }
    return body
  }

  func require(_ rules: (inout RequestLimits) -> Void) throws(PlayError) {
    var limits = RequestLimits()
    rules(&limits)
    if let violation = limits.violation {
      throw .invalidArgument("Invalid value at '\(violation.place)': \(violation.message)")
    }
  }

  func view(_ token: String, isSubscription: Bool) async throws -> PlayView {
    guard (20...1000).contains(token.utf8.count),
      token.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || [".", "-", "_"].contains($0) })
    else { throw PlayError.invalidToken }
    guard let purchase = try await ledger.purchase(token: token), purchase.state != .requested else {
      throw PlayError.tokenNotFound
    }
    guard purchase.isSubscription == isSubscription else { throw PlayError.invalidToken }
    let view = try await PlayView(purchase, in: ledger.store)
    guard !view.isForgotten(at: now) else { throw PlayError.tokenNoLongerValid }
    return view
  }

  func change(_ purchase: PlayPurchase, _ body: (inout PlayPurchase) -> Void) async throws {
    var purchase = purchase
    body(&purchase)
    try await ledger.put(purchase)
  }

  // The types are the client's. The integration tests compare every answer with Google's discovery document, so a
  // misspelled name fails them.
  static func json(_ answer: some JSONObject, status: Int = 200) -> RemoteResponse {
    RemoteResponse(
      status: status, headers: [HTTPHeader("Content-Type", "application/json; charset=UTF-8")],
      body: answer.encodedJSON())
  }

  static let noContent = RemoteResponse.empty(status: 204)
}

/// Counts requests by the buckets of Google's quotas. The period is one minute, and 30 seconds for voided purchases.
final class PlayQuotas: Sendable {
  private struct Window {
    var limit: Int?
    var start = Timestamp(millisecondsSince1970: 0)
    var count = 0
  }

  private let windows = Mutex<[Bucket: Window]>([:])

  func count(_ bucket: Bucket, at now: Timestamp) throws(PlayError) {
    let isWithin = windows.withLock { windows in
      var window = windows[bucket] ?? Window()
      let (count, seconds) = bucket.standard
      if now >= window.start.addingSeconds(seconds) || now < window.start {
        window.start = now
        window.count = 0
      }
      window.count += 1
      windows[bucket] = window
      return window.count <= window.limit ?? count
    }
    guard isWithin else { throw .quotaExceeded(bucket) }
  }

  /// Sets a limit and resets the count; `nil` restores Google's limit.
  func setLimit(_ limit: Int?, of bucket: Bucket) {
    windows.withLock { $0[bucket] = Window(limit: limit) }
  }
}

extension PlayQuotas.Bucket {
  /// Google's limit: the number of requests that are answered in a period, and its seconds.
  fileprivate var standard: (count: Int, seconds: Double) {
    self == .voidedPurchases ? (30, 30) : (3000, 60)
  }
}
