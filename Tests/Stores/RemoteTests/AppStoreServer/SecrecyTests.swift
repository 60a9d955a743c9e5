// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
@testable import AppStoreServer
import ReceiptSigning
import ReceiptTesting
import Testing

/// Neither key nor token nor signed payload gets into any text.
@Suite struct SecrecyTests {
  /// Everything that could end in a log.
  private static func texts(of value: some Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [
      String(describing: value), String(reflecting: value), dumped,
      "\(Mirror(reflecting: value).children.map { "\($0)" })",
    ]
  }

  private static func expectNoSecret(
    in value: some Any, besides secrets: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let key = try TestAuthority.es256().identity.privateKey
    let secrets =
      secrets.filter { !$0.isEmpty } + [
        Base64.encodeToString(try key.pkcs8DER()), "Bearer",
        // The base64 of a PKCS#8 key on P-256 begins so.
        "MIGHAgEA", "BEGIN PRIVATE KEY",
      ]
    for text in texts(of: value) {
      for secret in secrets { #expect(!text.contains(secret), sourceLocation: sourceLocation) }
    }
  }

  @Test("clients, tokens and requests show neither key nor token")
  func values() async throws {
    let transport = FakeTransport(.json("{}"))
    let client = try StoreServer.client(transport)
    try await client.send(.finish("1"))
    let token = try await client.raw.tokens.token().text
    #expect(transport.requests.first?.headers.first?.value == "Bearer \(token)")
    let parts = token.split(separator: ".").map(String.init)
    try Self.expectNoSecret(in: client.raw, besides: [token] + parts)
    try Self.expectNoSecret(in: client, besides: [token] + parts)
    try Self.expectNoSecret(in: client.raw.tokens, besides: [token] + parts)
    try Self.expectNoSecret(in: transport.requests, besides: [token] + parts)
    try Self.expectNoSecret(in: client.pages(.transactionHistory(of: "1")), besides: [token] + parts)
    #expect(
      client.description
        == "AppStoreServerClient(https://api.storekit-sandbox.apple.com/, DeveloperSigner(key 2X9R4HXF34, "
        + "issuer 57246542-96fe-1a63-e053-0824d011072a, bundle com.example.app))")
  }

  @Test(
    "a server that sends back what it was sent gets no token into an error", arguments: [400, 401, 404, 500])
  func echoedToken(status: Int) async throws {
    let transport = FakeTransport { request throws(HTTPTransportError) in
      let token = request.headers.first { $0.name == "Authorization" }?.value ?? ""
      return .json(#"{"errorCode":4000000,"errorMessage":"got \#(token), sorry"}"#, status: status)
    }
    let client = try StoreServer.raw(transport)
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    let token = try await client.tokens.token().text
    for request in transport.requests {
      let sent = request.headers.first { $0.name == "Authorization" }?.value.dropFirst("Bearer ".count)
      let shown = try #require(error).description
      #expect(shown.contains("got Bearer …, sorry"))
      #expect(!Self.texts(of: error as Any).contains { $0.contains(sent ?? "") })
    }
    #expect(!Self.texts(of: error as Any).contains { $0.contains(token) })
  }

  @Test("no signed payload gets into an error")
  func payloads() async throws {
    let receipts = try TestReceipts()
    let compact = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    let parts = compact.split(separator: ".").map(String.init)
    for body in [
      #"{"signedTransactionInfo":"\#(compact)"}"#, #"{"signedTransactionInfo":"\#(compact)\#(compact)"}"#,
      #"{"signedTransactionInfo":["\#(compact)"]}"#, #"{"\#(compact)":1,"\#(compact)":2}"#, compact,
    ] {
      let client = try StoreServer.client(FakeTransport(.json(body)))
      let error = await storeError { () async throws(AppStoreServerError) in
        try await client.send(.transaction("1"))
      }
      let shown = try #require(error)
      for text in Self.texts(of: shown) + Self.texts(of: shown.cause) {
        for part in parts { #expect(!text.contains(part)) }
        #expect(text.utf8.count < 4000)
      }
    }
  }

  @Test("text from a server is shown on one line of bounded length")
  func shownText() {
    #expect(ShownText.line("Transaction id not found.") == "Transaction id not found.")
    #expect(ShownText.line("a\r\nb\u{1B}[31m\u{202E}c") == "a\u{FFFD}\u{FFFD}b\u{FFFD}[31m\u{FFFD}c")
    #expect(ShownText.line(String(repeating: "x", count: 48)) == String(repeating: "x", count: 48))
    let url = "https://api.storekit-sandbox.apple.com/inApps/v1/notifications/history?paginationToken=a%2F"
    #expect(ShownText.line(url) == url)
    #expect(ShownText.line("(" + String(repeating: "x", count: 49) + ")") == "(…)")
    #expect(ShownText.line(String(repeating: "x ", count: 10_000)).unicodeScalars.count == 501)
  }

  @Test("an error states endpoint, reason and number of requests")
  func descriptions() {
    func shown(_ cause: AppStoreServerError.Cause, attempts: Int = 1) -> String {
      AppStoreServerError(.transaction, attempts: attempts, cause).description
    }
    #expect(
      shown(.response(.transactionIdNotFound, message: "Transaction id not found."))
        == "transaction: 4040010: Transaction id not found. (1 request)")
    #expect(
      shown(.rateLimited(retryAfter: StoreServer.now), attempts: 4)
        == "transaction: Too many requests; come back at 2025-10-01T07:09:22.000Z. (4 requests)")
    #expect(
      shown(.invalidRequest(place: "$.extendByDays", message: "It must be 1 to 90, not 0."), attempts: 0)
        == "transaction: It must be 1 to 90, not 0. ($.extendByDays) (nothing was sent)")
    #expect(shown(.unexpectedStatus(503)).contains("503"))
    #expect(shown(.unauthorized(message: nil)).contains("401"))
    #expect(shown(.deadlineExceeded) == "transaction: The deadline passed. (1 request)")
    #expect(shown(.cancelled) == "transaction: The task was cancelled. (1 request)")
    #expect(shown(.redirected(status: 302, location: nil)).contains("302"))
    #expect(shown(.transport(HTTPTransportError(.timedOut, "no answer"))).contains("timed-out: no answer"))
    #expect(shown(.signing(SigningError(.invalidValue, "out of range"))).contains("out of range"))
  }
}
