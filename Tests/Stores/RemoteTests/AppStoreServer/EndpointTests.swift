// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import Testing

/// The requests and answers of every endpoint, as they go over the wire.
@Suite struct EndpointTests {
  @Test("every endpoint is in the table")
  func complete() {
    #expect(Set(EndpointCall.all.map(\.endpoint)) == Set(AppStoreServerEndpoint.allCases))
  }

  @Test("a call sends exactly this request, and reads the answer", arguments: EndpointCall.all)
  func request(call: EndpointCall) async throws {
    let transport = FakeTransport(.json(call.response))
    let client = try StoreServer.raw(transport)
    try await call.perform(client)
    let request = try #require(transport.requests.first)
    #expect(transport.requests.count == 1)
    #expect(request.method == call.method)
    #expect(request.url.authority == "api.storekit-sandbox.apple.com")
    #expect(request.url.isSecure)
    #expect(request.url.target == call.target)
    #expect(request.body == call.body)
    var expected = [
      HTTPHeader("Authorization", "Bearer \(try await client.tokens.token().text)"),
      HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "ReceiptKit/0.1.0"),
    ]
    if let contentType = call.contentType { expected.append(HTTPHeader("Content-Type", contentType)) }
    #expect(request.headers == expected)
    #expect(request.timeout == .seconds(10))
  }

  @Test("any status of the 200s is success", arguments: EndpointCall.all, [200, 202, 204, 299])
  func success(call: EndpointCall, status: Int) async throws {
    let transport = FakeTransport(.json(call.response, status: status))
    try await call.perform(StoreServer.raw(transport))
    #expect(transport.requests.count == 1)
  }

  @Test(
    "a success with another body is a malformed response, and not retried",
    arguments: EndpointCall.all.filter { !$0.response.isEmpty },
    ["", "<html></html>", "[]", "{", #"{"a":1,"a":2}"#, "{}{}"])
  func malformed(call: EndpointCall, body: String) async throws {
    let transport = FakeTransport(.json(body))
    let client = try StoreServer.raw(transport)
    let error = await storeError { () async throws(AppStoreServerError) in try await call.perform(client) }
    #expect(error?.endpoint == call.endpoint)
    #expect(error?.attempts == 1)
    #expect(error?.isRetryable == false)
    guard case .malformedResponse = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("production and custom servers have their own addresses")
  func addresses() async throws {
    #expect(AppStoreServerAddress.production.url.description == "https://api.storekit.apple.com/")
    #expect(AppStoreServerAddress.sandbox.url.description == "https://api.storekit-sandbox.apple.com/")
    let transport = FakeTransport(.json("{}"))
    let own = AppStoreServerAddress(.sandbox, at: try RemoteURL("http://127.0.0.1:8080/store/"))
    try await StoreServer.raw(transport).calling(own).send(.finish("1"))
    #expect(
      transport.requests.first?.url.description
        == "http://127.0.0.1:8080/store/inApps/v1/transactions/1/finish")
  }

  @Test("a segment that would make another path is not sent", arguments: ["", ".", ".."])
  func segments(identifier: String) async throws {
    let transport = FakeTransport(.json("{}"))
    let client = try StoreServer.raw(transport)
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.finish(identifier))
    }
    #expect(
      error?.cause
        == .invalidRequest(place: "transactionId", message: "It must not be empty, nor dots alone."))
    #expect(error?.attempts == 0)
    #expect(transport.requests.isEmpty)
  }
}
