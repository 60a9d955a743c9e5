// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import Testing

/// Statuses and error codes: what they mean, and whether the call is sent again.
@Suite struct RefusalTests {
  /// A call that may be repeated, and one that may not.
  enum Kind: CaseIterable, Sendable {
    case repeatable, notRepeatable

    func perform(_ client: RawAppStoreServerClient) async -> AppStoreServerError? {
      await storeError { () async throws(AppStoreServerError) in
        switch self {
        case .repeatable: try await client.send(.finish("1"))
        case .notRepeatable:
          _ = try await client.send(
            .extendRenewalDate(
              of: "1",
              ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: .other, requestIdentifier: "i")))
        }
      }
    }
  }

  private static func refusal(of response: RemoteResponse, _ kind: Kind) async throws -> (
    error: AppStoreServerError?, requests: Int
  ) {
    let transport = FakeTransport(response)
    let error = await kind.perform(try StoreServer.raw(transport))
    #expect(error == nil || error?.attempts == transport.requests.count)
    return (error, transport.requests.count)
  }

  @Test("every documented code is an error of its own", arguments: AppStoreServerErrorCode.documented)
  func code(_ code: AppStoreServerErrorCode) async throws {
    let body = #"{"errorCode":\#(code.rawValue),"errorMessage":"Not that."}"#
    for kind in Kind.allCases {
      let (error, requests) = try await Self.refusal(of: .json(body, status: code.httpStatus), kind)
      #expect(error?.code == code)
      #expect(error?.isRetryable == code.isRetryable)
      #expect(requests == (code.isRetryable ? 4 : 1))
      if code == .rateLimitExceeded {
        #expect(error?.cause == .rateLimited(retryAfter: nil))
      } else if code == .unauthorized {
        #expect(error?.cause == .unauthorized(message: "Not that."))
      } else {
        #expect(error?.cause == .response(code, message: "Not that."))
      }
    }
  }

  @Test("unknown codes are kept; only those with a 5xx status are retryable", arguments: Kind.allCases)
  func unknownCode(kind: Kind) async throws {
    for (code, status) in [(4_049_999, 404), (5_009_999, 500), (-1, 400), (0, 418)] as [(Int64, Int)] {
      let code = AppStoreServerErrorCode(rawValue: code)
      let (error, requests) = try await Self.refusal(
        of: .json(#"{"errorCode":\#(code.rawValue)}"#, status: status), kind)
      #expect(error?.cause == .response(code, message: ""))
      #expect(error?.isRetryable == (status == 500))
      #expect(requests == (status == 500 && kind == .repeatable ? 4 : 1))
    }
  }

  @Test("every status without a reason has one meaning", arguments: Kind.allCases)
  func status(kind: Kind) async throws {
    for status in 100...599 {
      let (error, requests) = try await Self.refusal(
        of: RemoteResponse(status: status, headers: [HTTPHeader("Content-Type", "text/html")]), kind)
      var expectedRequests = 1
      switch status {
      case 200..<300:
        // The one has no content, the other must have.
        if kind == .repeatable { #expect(error == nil) } else { #expect(error?.isMalformed == true) }
      case 301, 302, 303, 307, 308:
        #expect(error?.cause == .redirected(status: status, location: nil))
        #expect(error?.isRetryable == false)
      case 401:
        #expect(error?.cause == .unauthorized(message: nil))
        #expect(error?.isRetryable == false)
      case 429:
        #expect(error?.cause == .rateLimited(retryAfter: nil))
        #expect(error?.isRetryable == true)
        expectedRequests = 4
      case 408, 425, 500...599:
        #expect(error?.cause == .unexpectedStatus(status))
        #expect(error?.isRetryable == true)
        if kind == .repeatable { expectedRequests = 4 }
      default:
        #expect(error?.cause == .unexpectedStatus(status))
        #expect(error?.isRetryable == false)
      }
      #expect(requests == expectedRequests, "status \(status)")
    }
  }

  @Test(
    "an error is read from any JSON media type, and without one",
    arguments: [
      "application/json", "application/json;charset=UTF-8", "application/json ; charset=utf-8",
      "APPLICATION/JSON", "application/problem+json", "text/json", nil,
    ])
  func jsonErrors(contentType: String?) async throws {
    let body = Array(#"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#.utf8)
    let headers = contentType.map { [HTTPHeader("content-type", $0)] } ?? []
    let (error, _) = try await Self.refusal(
      of: RemoteResponse(status: 404, headers: headers, body: body), .repeatable)
    #expect(error?.code == .transactionIdNotFound)
  }

  @Test(
    "an unreadable error leaves the status",
    arguments: [
      ("text/html", #"{"errorCode":4040010}"#), ("text/html", "<h1>Not Found</h1>"),
      ("application/json", "<h1>Not Found</h1>"), ("application/json", ""),
      ("application/json", #"{"errorMessage":"m"}"#), ("application/json", #"{"errorCode":"4040010"}"#),
      ("application/json", #"[{"errorCode":4040010}]"#), ("application/jsonp", #"{"errorCode":4040010}"#),
      ("application/json", #"{"errorCode":1e99}"#),
    ])
  func otherErrors(contentType: String, body: String) async throws {
    let (error, _) = try await Self.refusal(
      of: .json(body, status: 404, contentType: contentType), .repeatable)
    #expect(error?.cause == .unexpectedStatus(404))
  }

  @Test("an unauthorized token's message is kept")
  func unauthorized() async throws {
    let (error, _) = try await Self.refusal(
      of: .json(#"{"errorCode":4010000,"errorMessage":"Unauthenticated"}"#, status: 401), .repeatable)
    #expect(error?.cause == .unauthorized(message: "Unauthenticated"))
  }

  @Test("a redirect to another host is not followed, one on this host is")
  func redirects() async throws {
    let elsewhere = RemoteResponse(
      status: 302, headers: [HTTPHeader("Location", "https://example.com/inApps/v1/transactions/1")])
    let transport = FakeTransport(elsewhere)
    let client = try StoreServer.raw(transport)
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("1"))
    }
    #expect(
      error?.cause
        == .redirected(status: 302, location: "https://example.com/inApps/v1/transactions/1"))
    #expect(transport.requests.count == 1)

    let here = FakeTransport([
      .success(RemoteResponse(status: 307, headers: [HTTPHeader("Location", "/moved/1")])),
      .success(.json(#"{"signedTransactionInfo":"a"}"#)),
    ])
    #expect(try await StoreServer.raw(here).content(.transaction("1")).signedTransactionInfo == "a")
    #expect(here.requests.map(\.url.target) == ["/inApps/v1/transactions/1", "/moved/1"])
    #expect(
      here.requests.map(\.url.authority) == Array(repeating: "api.storekit-sandbox.apple.com", count: 2))
  }

  @Test("a response beyond the limit is refused even if the transport accepts it")
  func tooLong() async throws {
    let transport = FakeTransport { request throws(HTTPTransportError) in
      RemoteResponse(
        status: 200, headers: [HTTPHeader("Content-Type", "application/json")],
        body: [UInt8](repeating: 0x20, count: request.maximumResponseByteCount + 1))
    }
    let error = await Kind.repeatable.perform(try StoreServer.raw(transport))
    guard case .transport(let failure) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.code == .tooLarge)
    #expect(transport.requests.count == 1)
  }

  @Test("redirects end after three, for calls with side effects, and without a valid target")
  func redirectLimits() async throws {
    let here = FakeTransport(RemoteResponse(status: 302, headers: [HTTPHeader("Location", "/again")]))
    let client = try StoreServer.raw(here)
    let endless = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("1"))
    }
    #expect(endless?.cause == .redirected(status: 302, location: "/again", followed: 3))
    #expect(
      endless?.description
        == "transaction: The server redirects (HTTP status 302) to /again, which is not followed; 3 redirects "
        + "before it were followed. (1 request)")
    #expect(endless?.attempts == 1)
    #expect(here.requests.count == 4)
    here.forgetRequests()
    let change = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.finish("1"))
    }
    #expect(change?.cause == .redirected(status: 302, location: "/again"))
    #expect(here.requests.count == 1)
    for location in ["//evil.example/", "http://api.storekit-sandbox.apple.com/", "relative", ""] {
      let away = try StoreServer.raw(
        FakeTransport(RemoteResponse(status: 307, headers: [HTTPHeader("Location", location)])))
      let error = await storeError { () async throws(AppStoreServerError) in
        try await away.send(.transaction("1"))
      }
      #expect(error?.cause == .redirected(status: 307, location: location))
    }
  }
}

extension AppStoreServerError {
  var isMalformed: Bool {
    if case .malformedResponse = cause { true } else { false }
  }
}
