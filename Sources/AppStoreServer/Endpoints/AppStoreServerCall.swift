// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A call of the App Store Server API: the row of its endpoint, filled in.
///
/// ```swift
/// let transaction = try await client.send(.transaction("2000000001"))
/// ```
///
/// `Response` is what the App Store answers, `Value` what an ``AppStoreServerClient`` makes of it after verifying the
/// signed parts. Where an answer has none, both are the same.
public struct AppStoreServerCall<Response: Sendable & Hashable, Value: Sendable>: Sendable {
  /// The endpoint.
  package let endpoint: AppStoreServerEndpoint
  let request: AppStoreServerRequest
  let decode: @Sendable ([UInt8]) throws(MalformedReceipt) -> Response
  let verify: @Sendable (Response, SignedParts) throws(AppStoreServerError) -> Value
}

extension AppStoreServerCall where Response: JSONObject {
  /// A row whose answer has signed parts, which `verify` turns into the value.
  init(
    _ endpoint: AppStoreServerEndpoint, _ request: AppStoreServerRequest,
    verify: @escaping @Sendable (Response, SignedParts) throws(AppStoreServerError) -> Value
  ) {
    self.init(
      endpoint: endpoint, request: request,
      decode: { (body) throws(MalformedReceipt) in
        try Response(json: body, part: "response", limits: .standard)
      }, verify: verify)
  }
}

extension AppStoreServerCall where Response: JSONObject, Value == Response {
  /// A row whose answer has no signed part.
  init(_ endpoint: AppStoreServerEndpoint, _ request: AppStoreServerRequest = AppStoreServerRequest()) {
    self.init(endpoint, request) { (response, _) throws(AppStoreServerError) in response }
  }
}

/// The answer of an endpoint that answers without content.
public struct NoContent: Sendable, Hashable {}

extension AppStoreServerCall where Response == NoContent, Value == NoContent {
  init(_ endpoint: AppStoreServerEndpoint, _ request: AppStoreServerRequest = AppStoreServerRequest()) {
    self.init(
      endpoint: endpoint, request: request, decode: { (_) throws(MalformedReceipt) in NoContent() },
      verify: { (response, _) throws(AppStoreServerError) in response })
  }
}

/// A call whose answer comes in pages: the row of its endpoint, filled in but for the place of the page.
public struct AppStoreServerPagedCall<Response: Sendable & Hashable, Element: Sendable>: Sendable {
  /// The call for the page that a token names; for the first page without one.
  let page: @Sendable (_ token: String?) -> AppStoreServerCall<Response, AppStoreServerPage<Element>>
}

/// The parameters of a call.
struct AppStoreServerRequest: Sendable {
  enum Body: Sendable {
    case json([UInt8])
    case png([UInt8])

    var bytes: [UInt8] {
      switch self {
      case .json(let bytes), .png(let bytes): bytes
      }
    }

    var contentType: String {
      switch self {
      case .json: "application/json"
      case .png: "image/png"
      }
    }
  }

  typealias QueryItem = (name: String, value: String)

  /// What the braces of the path stand for, in order.
  var pathValues: [String]
  /// Names and values, not encoded.
  var query: [QueryItem]
  var body: Body?
  var limits = RequestLimits()

  init(_ pathValues: String..., query: [QueryItem] = []) {
    self.pathValues = pathValues
    self.query = query
  }

  /// With a JSON body, checked against its limits.
  init(_ pathValues: String..., query: [QueryItem] = [], json: some WireRequest) {
    self.pathValues = pathValues
    self.query = query
    body = .json(json.encodedJSON())
    json.checkFields(&limits, at: "$")
    json.checkRules(&limits)
  }

  /// The same after another check.
  func checking(_ check: (inout RequestLimits) -> Void) -> AppStoreServerRequest {
    var copy = self
    check(&copy.limits)
    return copy
  }

  /// The segments of the path of an endpoint, not encoded.
  ///
  /// - Throws: ``AppStoreServerError`` where a value would make another path, or a limit is broken.
  func path(of endpoint: AppStoreServerEndpoint) throws(AppStoreServerError) -> [String] {
    var limits = limits
    var remaining = pathValues[...]
    let path = endpoint.path.split(separator: "/").map { segment in
      guard segment.hasPrefix("{") else { return String(segment) }
      let value = remaining.popFirst() ?? ""
      // Dots alone mean this path or the one above it (RFC 3986 section 3.3), encoded or not.
      limits.require(
        !["", ".", ".."].contains(value), at: String(segment.dropFirst().dropLast()),
        "It must not be empty, nor dots alone.")
      return value
    }
    if let violation = limits.violation {
      throw AppStoreServerError(
        endpoint, attempts: 0,
        .invalidRequest(place: violation.place, message: violation.message))
    }
    return path
  }
}
