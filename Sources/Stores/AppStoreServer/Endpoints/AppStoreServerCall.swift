// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A call of the App Store Server API: an endpoint with its parameters.
///
/// The calls are generated from the endpoint rows in `WireTypes/`.
///
/// ```swift
/// let transaction = try await client.send(.transaction("2000000001"))
/// ```
///
/// `Response` is the App Store's response. `Value` is the value that an ``AppStoreServerClient`` creates from it after
/// verifying the signed parts. If a response has no signed parts, both are the same.
public struct AppStoreServerCall<Response: Sendable & Hashable, Value: Sendable>: Sendable {
  package let endpoint: AppStoreServerEndpoint
  let request: EndpointRequest
  let decode: @Sendable ([UInt8]) throws(MalformedReceipt) -> Response
  let verify: @Sendable (Response, SignedParts) throws(AppStoreServerError) -> Value
}

extension AppStoreServerCall where Response: JSONObject {
  /// Creates a call whose response has signed parts; `verify` converts the response to the value.
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
  /// Creates a call whose response has no signed parts.
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

/// A call whose answer has several pages: an endpoint with all parameters except the token of the page.
public struct AppStoreServerPagedCall<Response: Sendable & Hashable, Element: Sendable>: Sendable {
  /// Creates the call for the page with a token; without a token, for the first page.
  let page:
    @Sendable (_ token: String?) -> AppStoreServerCall<Response, RemotePage<Element, AppStoreServerError>>
}
