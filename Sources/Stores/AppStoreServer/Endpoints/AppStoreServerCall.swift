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
  let request: EndpointRequest
  let decode: @Sendable ([UInt8]) throws(MalformedReceipt) -> Response
  let verify: @Sendable (Response, SignedParts) throws(AppStoreServerError) -> Value
}

extension AppStoreServerCall where Response: JSONObject {
  /// A call whose answer has signed parts, which `verify` turns into the value.
  init(
    _ endpoint: AppStoreServerEndpoint, _ request: EndpointRequest,
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
  init(_ endpoint: AppStoreServerEndpoint, _ request: EndpointRequest = EndpointRequest()) {
    self.init(endpoint, request) { (response, _) throws(AppStoreServerError) in response }
  }
}

extension AppStoreServerCall where Response == NoContent, Value == NoContent {
  init(_ endpoint: AppStoreServerEndpoint, _ request: EndpointRequest = EndpointRequest()) {
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
