// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import Testing

/// When a call is sent again, how long it waits, and when it gives up.
@Suite struct RetryTests {
  private static let unavailable = RemoteResponse(status: 503)

  @Test(
    "delays are between zero and a limit that doubles",
    arguments: [(0.0, [0, 0, 0, 0, 0, 0]), (0.5, [100, 200, 400, 800, 1600, 2500])])
  func jitter(random: Double, milliseconds: [Int]) async throws {
    let time = ManualTime(StoreServer.now, random: random)
    let transport = FakeTransport(Self.unavailable)
    let client = try StoreServer.raw(transport, time: time, retry: RetryPolicy(maximumAttempts: 7))
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    #expect(error?.attempts == 7)
    #expect(time.sleeps == milliseconds.map { .milliseconds($0) })
  }

  @Test("the limit of a delay cannot overflow")
  func greatestDelay() {
    let policy = RetryPolicy(firstDelay: .seconds(Int64.max), maximumDelay: .seconds(Int64.max))
    #expect(policy.greatestDelay(afterAttempts: 1000) == .seconds(Int64.max))
    let short = RetryPolicy(firstDelay: .seconds(9), maximumDelay: .seconds(5))
    #expect(short.greatestDelay(afterAttempts: 1) == .seconds(5))
    #expect(RetryPolicy(firstDelay: .zero).greatestDelay(afterAttempts: 9) == .zero)
  }

  @Test(
    "Retry-After is honoured in seconds, in UNIX milliseconds and as a date",
    arguments: ["7", "1759302569000", "Wed, 01 Oct 2025 07:09:29 GMT"])
  func retryAfter(value: String) async throws {
    let time = ManualTime(StoreServer.now, random: 0)
    let transport = FakeTransport([
      .success(
        .json(
          #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#, status: 429,
          headers: [HTTPHeader("retry-after", value)])),
      .success(.json("")),
    ])
    try await StoreServer.raw(transport, time: time).send(.finish("1"))
    #expect(time.sleeps == [.seconds(7)])
    #expect(transport.requests.count == 2)
  }

  @Test(
    "a Retry-After past the deadline fails at once and states when to retry",
    arguments: ["3600", "9999999999999"])
  func retryAfterDeadline(value: String) async throws {
    let time = ManualTime(StoreServer.now)
    let transport = FakeTransport(.json("", status: 429, headers: [HTTPHeader("Retry-After", value)]))
    let client = try StoreServer.raw(transport, time: time)
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    let expected =
      value == "3600"
      ? StoreServer.now.addingSeconds(3600) : Timestamp(millisecondsSince1970: 9_999_999_999_999)
    #expect(error?.cause == .rateLimited(retryAfter: expected))
    #expect(error?.attempts == 1)
    #expect(time.sleeps == [])
  }

  @Test(
    "a Retry-After that is past or nonsense waits no longer than otherwise", arguments: ["1", "soon", "0"])
  func uselessRetryAfter(value: String) async throws {
    // One second is less than the wait that the dice give.
    let time = ManualTime(StoreServer.now, random: 0.5)
    let transport = FakeTransport([
      .success(.json("", status: 429, headers: [HTTPHeader("Retry-After", value)])), .success(.json("")),
    ])
    try await StoreServer.raw(
      transport, time: time, retry: RetryPolicy(firstDelay: .seconds(4))
    ).send(.finish("1"))
    #expect(time.sleeps == [.seconds(2)])
  }

  @Test(
    "without an answer, a call is repeated only if that is safe",
    arguments: HTTPTransportError.Code.allCases)
  func transportErrors(code: HTTPTransportError.Code) async throws {
    for kind in RefusalTests.Kind.allCases {
      let transport = FakeTransport([.failure(HTTPTransportError(code, "no"))])
      let error = await kind.perform(try StoreServer.raw(transport))
      let isRepeated: Bool
      switch code {
      case .cannotConnect: isRepeated = true
      case .connectionLost, .timedOut, .invalidResponse: isRepeated = kind == .repeatable
      case .insecure, .tooLarge, .cancelled, .unusable: isRepeated = false
      }
      #expect(transport.requests.count == (isRepeated ? 4 : 1))
      #expect(error?.attempts == transport.requests.count)
      #expect(
        error?.cause == (code == .cancelled ? .cancelled : .transport(HTTPTransportError(code, "no"))))
      #expect(error?.isRetryable == HTTPTransportError(code, "").isRetryable)
    }
  }

  @Test("no endpoint that is not idempotent is repeated", arguments: EndpointCall.all)
  func repetition(call: EndpointCall) async throws {
    let once: Set<AppStoreServerEndpoint> = [
      .extendRenewalDate, .requestTestNotification, .startPerformanceTest, .cancelSubscription,
      .revokeSubscription, .migrateSubscription, .changeSubscriptionMetadata, .changeSubscriptionPrice,
      .requestRefund, .sendExternalPurchaseReport,
    ]
    let transport = FakeTransport([.failure(HTTPTransportError(.connectionLost, "no"))])
    let client = try StoreServer.raw(transport)
    _ = await storeError { () async throws(AppStoreServerError) in try await call.perform(client) }
    #expect(transport.requests.count == (once.contains(call.endpoint) ? 1 : 4))
  }

  @Test("after transient failures the answer is returned")
  func recovery() async throws {
    let transport = FakeTransport([
      .failure(HTTPTransportError(.cannotConnect, "no")), .success(Self.unavailable),
      .success(.json(#"{"errorCode":4040002}"#, status: 404)), .success(.json(#"{"hasMore":false}"#)),
    ])
    let page = try await StoreServer.raw(transport).content(.transactionHistory(of: "1"))
    #expect(page.hasMore == false)
    #expect(transport.requests.count == 4)
  }

  @Test("the deadline bounds all attempts together, and each attempt's timeout")
  func deadline() async throws {
    let time = ManualTime(StoreServer.now, random: 0)
    let transport = FakeTransport { request throws(HTTPTransportError) in
      time.advance(by: request.timeout)
      throw HTTPTransportError(.timedOut, "no answer")
    }
    let client = try StoreServer.raw(
      transport, time: time, retry: RetryPolicy(maximumAttempts: 100, deadline: .seconds(25)))
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    #expect(error?.cause == .deadlineExceeded)
    #expect(error?.attempts == 3)
    #expect(error?.isRetryable == true)
    #expect(transport.requests.map(\.timeout) == [.seconds(10), .seconds(10), .seconds(5)])
  }

  @Test("a policy with one attempt makes one attempt")
  func once() async throws {
    let transport = FakeTransport(Self.unavailable)
    let client = try StoreServer.raw(transport, retry: .once(within: .seconds(Int64.max)))
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    #expect(error?.cause == .unexpectedStatus(503))
    #expect(transport.requests.count == 1)
  }

  @Test("a body beyond the limit is refused, whatever the transport does")
  func tooLarge() async throws {
    let transport = FakeTransport(
      RemoteResponse(status: 200, body: Array(repeating: UInt8(ascii: " "), count: (8 << 20) + 1)))
    let client = try StoreServer.raw(transport)
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("1"))
    }
    guard case .transport(let failure) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.code == .tooLarge)
    #expect(error?.attempts == 1)
  }
}
