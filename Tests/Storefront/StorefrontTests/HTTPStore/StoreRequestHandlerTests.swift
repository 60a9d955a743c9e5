// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptHTTP
import Storefront
import Testing

@Suite struct StoreRequestHandlerTests {
  private let behind = ClosureStore()
  private static let json = [HTTPHeader("Content-Type", "application/json; charset=utf-8")]
  private static let purchase = #"{"requestIdentifier":"1","payment":{"productIdentifier":"a","quantity":1}}"#

  private func respond(
    _ body: String, method: String = "POST", path: String = "/v1/purchase",
    headers: [HTTPHeader] = json
  ) async -> RemoteResponse {
    await respond(Array(body.utf8), method: method, path: path, headers: headers)
  }

  private func respond(
    _ body: [UInt8], method: String = "POST", path: String, headers: [HTTPHeader] = json
  ) async -> RemoteResponse {
    let behind = behind
    let handler = StoreRequestHandler { token in token == nil || token == "anna" ? behind : nil }
    return await handler.response(method: method, path: path, headers: headers, body: body)
  }

  @Test func answersInJSONThatMustNotBeCached() async throws {
    let response = await respond(Self.purchase)
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == "application/json")
    #expect(response.header("Cache-Control") == "no-store")
    #expect(
      String(decoding: response.body, as: UTF8.self) == #"{"requestIdentifier":"1","outcome":"pending"}"#)
  }

  @Test(arguments: [
    ("/", 404, "not-found"), ("/v1", 404, "not-found"), ("/v2/purchase", 404, "not-found"),
    ("/v1/purchase/", 404, "not-found"), ("/v1/purchase?x=1", 404, "not-found"), ("", 404, "not-found"),
  ])
  func otherPathsAreNotFound(path: String, status: Int, code: String) async throws {
    let response = await respond(Self.purchase, path: path)
    #expect(response.status == status)
    #expect(try JSONValue(parsing: response.body)["code"]?.string == code)
    #expect(await behind.calls.isEmpty)
  }

  @Test(arguments: ["GET", "PUT", "DELETE", "HEAD", "post"])
  func otherMethodsAreNotAllowed(method: String) async throws {
    let response = await respond(Self.purchase, method: method)
    #expect(response.status == 405)
    #expect(response.header("Allow") == "POST")
    #expect(await behind.calls.isEmpty)
  }

  @Test(arguments: [
    ["Bearer mallory"], ["Basic anna"], ["Bearer"], [""], ["Bearer anna", "Bearer anna"],
    ["Bearer anna anna"],
  ])
  func otherTokensAreRefused(authorizations: [String]) async throws {
    let headers = Self.json + authorizations.map { HTTPHeader("authorization", $0) }
    let response = await respond(Self.purchase, headers: headers)
    #expect(response.status == 401)
    #expect(response.header("WWW-Authenticate") == "Bearer")
    #expect(await behind.calls.isEmpty)
  }

  @Test(arguments: ["Bearer anna", "bearer  anna", "BEARER anna "])
  func theCustomerIsServed(authorization: String) async throws {
    let headers = Self.json + [HTTPHeader("Authorization", authorization)]
    #expect(await respond(Self.purchase, headers: headers).status == 200)
  }

  @Test(arguments: [nil, "text/plain", "application/jsonp", ""])
  func onlyJSONIsRead(type: String?) async throws {
    let response = await respond(Self.purchase, headers: type.map { [HTTPHeader("Content-Type", $0)] } ?? [])
    #expect(response.status == 415)
    #expect(await behind.calls.isEmpty)
  }

  @Test func longRequestsAreRefused() async throws {
    let long = Self.purchase + String(repeating: " ", count: StoreRequestHandler.maximumRequestByteCount)
    #expect(await respond(long).status == 413)
    #expect(await behind.calls.isEmpty)
  }

  @Test(arguments: [
    ("/v1/purchase", "", "byte 0 of the request"),
    ("/v1/purchase", "[]", "$"),
    ("/v1/purchase", "{}", "$.requestIdentifier"),
    ("/v1/purchase", #"{"requestIdentifier":"1"}"#, "$.payment"),
    ("/v1/purchase", #"{"requestIdentifier":1}"#, "$.requestIdentifier"),
    ("/v1/purchase", #"{"requestIdentifier":"1","requestIdentifier":"1"}"#, "$.requestIdentifier"),
    (
      "/v1/purchase", #"{"requestIdentifier":"1","payment":{"productIdentifier":"a","quantity":"1"}}"#,
      "$.payment.quantity"
    ),
    ("/v1/unfinished", "{}", "$.limit"),
    ("/v1/unfinished", #"{"limit":0}"#, "$.limit"),
    ("/v1/finish", "{}", "$.transactionIdentifier"),
    ("/v1/restore", #"{"requestIdentifier":"1","limit":-1}"#, "$.limit"),
    ("/v1/products", "{}", "$.productIdentifiers"),
    ("/v1/products", #"{"productIdentifiers":["a",1]}"#, "$.productIdentifiers[1]"),
    ("/v1/products", #"{"productIdentifiers":[],"preferredLocales":["ä"]}"#, "$.preferredLocales[0]"),
  ])
  func aDamagedRequestReachesNoStoreAndHasAPath(path: String, body: String, place: String) async throws {
    let response = await respond(body, path: path)
    #expect(response.status == 400)
    let problem = try JSONValue(parsing: response.body)
    #expect(problem["code"]?.string == "malformed-request")
    #expect(problem["place"]?.string == place)
    #expect(await behind.calls.isEmpty)
  }

  @Test func atMostFiveHundredProductsAtATime() async throws {
    let identifiers = (0...500).map { "\"\($0)\"" }.joined(separator: ",")
    let response = await respond("{\"productIdentifiers\":[\(identifiers)]}", path: "/v1/products")
    #expect(response.status == 400)
    #expect(try JSONValue(parsing: response.body)["place"]?.string == "$.productIdentifiers")
  }

  @Test func aTruncatedRequestReachesNoStore() async throws {
    let bytes = Array(Self.purchase.utf8)
    for count in 0..<bytes.count {
      #expect(await respond(Array(bytes.prefix(count)), path: "/v1/purchase").status == 400)
    }
    #expect(await behind.calls.isEmpty)
  }

  @Test func noBytesMakeItCrash() async throws {
    var values = RandomValues(seed: 9)
    let samples = [
      Self.purchase, #"{"productIdentifiers":["a"],"preferredLocales":["de_DE@currency=CHF"]}"#,
      #"{"requestIdentifier":"1","applicationUsername":"x","after":"7","limit":5}"#,
    ].map { Array($0.utf8) }
    for _ in 0..<300 {
      var bytes = values.maybe { $0.bytes(0...200) } ?? samples.randomElement(using: &values) ?? []
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &values)] = UInt8.random(in: 0...255, using: &values)
      }
      for path in ["/v1/products", "/v1/purchase", "/v1/unfinished", "/v1/finish", "/v1/restore"] {
        #expect([200, 400].contains(await respond(bytes, path: path).status))
      }
    }
  }
}
