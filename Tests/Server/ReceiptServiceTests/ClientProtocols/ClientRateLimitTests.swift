// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Testing

  /// The limit on the requests of an address with a publishable key.
  @Suite struct ClientRateLimitTests {
    private let start = ContinuousClock.now

    @Test("a burst, then so many a second, of each address alone")
    func burst() throws {
      let limit = ClientRateLimit(burst: 3, rate: 2)
      for remaining in [2, 1, 0] {
        #expect(try limit.count(from: "192.0.2.1", at: start) == .init(limit: 3, remaining: remaining))
      }
      #expect(throws: ClientRateLimit.Exceeded(limit: 3, retryAfter: 1)) {
        try limit.count(from: "192.0.2.1", at: start)
      }
      #expect(try limit.count(from: "192.0.2.2", at: start)?.remaining == 2)
      #expect(try limit.count(from: "192.0.2.1", at: start + .milliseconds(600))?.remaining == 0)
      // An address that pauses gets the whole burst again, and no more.
      #expect(try limit.count(from: "192.0.2.1", at: start + .seconds(3600))?.remaining == 2)
    }

    @Test("a refused request does not put off the next one")
    func refusals() throws {
      let limit = ClientRateLimit(burst: 1, rate: 1)
      _ = try limit.count(from: "a", at: start)
      for milliseconds in stride(from: 100, to: 1000, by: 100) {
        #expect(throws: ClientRateLimit.Exceeded.self) {
          try limit.count(from: "a", at: start + .milliseconds(milliseconds))
        }
      }
      #expect(try limit.count(from: "a", at: start + .seconds(1)) != nil)
    }

    @Test("a rate of 0 is no limit")
    func unlimited() throws {
      let limit = ClientRateLimit(burst: 1, rate: 0)
      for _ in 0..<10 { #expect(try limit.count(from: "a", at: start) == nil) }
    }

    @Test("any number of addresses takes bounded memory, and one that is exhausted stays so")
    func memory() throws {
      let limit = ClientRateLimit(burst: 2, rate: 1)
      for _ in 0..<2 { _ = try limit.count(from: "exhausted", at: start + .seconds(4)) }
      for number in 0..<100_050 { _ = try limit.count(from: "\(number)", at: start) }
      #expect(throws: ClientRateLimit.Exceeded.self) {
        try limit.count(from: "exhausted", at: start + .seconds(4))
      }
      #expect(limit.addressCount <= 100_000)
    }

    @Test(
      "addresses of one network count as one",
      arguments: [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("fe80::1%eth0", "fe80::1%eth0", true),
      ])
    func networks(one: String, other: String, isSame: Bool) {
      #expect((ClientRateLimit.network(of: one) == ClientRateLimit.network(of: other)) == isSame)
    }
  }
#endif
