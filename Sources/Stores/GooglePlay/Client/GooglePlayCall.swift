// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A call of the Google Play Developer API: an endpoint with its parameters.
///
/// The calls are generated from the endpoint rows in `WireTypes/`.
///
/// ```swift
/// let purchase = try await client.send(.subscription(token))
/// ```
public struct GooglePlayCall<Response: Sendable & Hashable>: Sendable {
  package let endpoint: GooglePlayEndpoint
  let request: EndpointRequest
  let decode: @Sendable ([UInt8]) throws(MalformedReceipt) -> Response
}

extension GooglePlayCall where Response: JSONObject {
  init(_ endpoint: GooglePlayEndpoint, _ request: EndpointRequest = EndpointRequest()) {
    self.init(endpoint: endpoint, request: request) { (body) throws(MalformedReceipt) in
      try Response(json: body, part: "response", limits: .standard)
    }
  }
}

extension GooglePlayCall where Response == NoContent {
  init(_ endpoint: GooglePlayEndpoint, _ request: EndpointRequest = EndpointRequest()) {
    self.init(endpoint: endpoint, request: request) { (_) throws(MalformedReceipt) in NoContent() }
  }
}
