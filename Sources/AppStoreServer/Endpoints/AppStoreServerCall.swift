// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A call of the App Store Server API: an endpoint with its parameters. The calls are generated from the rows of the
/// endpoints in `WireTypes/`.
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
  /// A call whose answer has signed parts, which `verify` turns into the value.
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
  /// A call whose answer has no signed part.
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

/// A call whose answer comes in pages: an endpoint with its parameters but for the token that names the page.
public struct AppStoreServerPagedCall<Response: Sendable & Hashable, Element: Sendable>: Sendable {
  /// The call for the page that a token names; for the first page without one.
  let page: @Sendable (_ token: String?) -> AppStoreServerCall<Response, AppStoreServerPage<Element>>
}

/// The parameters of a call.
struct AppStoreServerRequest: Sendable {
  /// What the braces of the path stand for, in order.
  let pathValues: [String]
  /// Names and values, not encoded.
  var query: [(name: String, value: String)] = []
  private(set) var body: (contentType: String, bytes: [UInt8])?
  var limits = RequestLimits()

  init(_ pathValues: String...) { self.pathValues = pathValues }

  /// With a JSON body, checked against its limits.
  init(_ pathValues: String..., json: some WireRequest) {
    self.pathValues = pathValues
    body = ("application/json", json.encodedJSON())
    json.checkFields(&limits, at: "$")
    json.checkRules(&limits)
  }

  /// Makes a PNG file the body.
  mutating func setPNG(_ png: [UInt8]) {
    body = ("image/png", png)
    // The signature of PNG (RFC 2083 section 3.1).
    limits.require(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), at: "body",
      "It must be a PNG file.")
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

extension AppStoreServerEndpoint {
  /// The method.
  package var method: RemoteRequest.Method {
    RemoteRequest.Method(rawValue: String(rawValue.prefix { $0 != " " })) ?? .get
  }

  /// The path; what stands in braces is filled in for each call.
  package var path: String { String(rawValue.drop { $0 != "/" }) }
}
