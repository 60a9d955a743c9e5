// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import ReceiptTesting
import Synchronization
import Testing

/// Whatever a server answers, a call ends in time with a typed error or what was verified.
@Suite struct HostileServerTests {
  /// Always the same numbers (SplitMix64).
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      return bits ^ (bits >> 31)
    }
  }

  private static func answer(
    _ good: [UInt8], with dice: inout Dice
  ) -> Result<RemoteResponse, HTTPTransportError> {
    if Int.random(in: 0..<8, using: &dice) == 0 {
      let code = HTTPTransportError.Code.allCases.randomElement(using: &dice) ?? .timedOut
      return .failure(HTTPTransportError(code, "no"))
    }
    var body = good
    switch Int.random(in: 0..<5, using: &dice) {
    case 0: body = Array(body.prefix(Int.random(in: 0...body.count, using: &dice)))
    case 1:
      let index = Int.random(in: 0..<body.count, using: &dice)
      body[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
    case 2:
      let code = AppStoreServerErrorCode.documented.randomElement(using: &dice)?.rawValue ?? 0
      body = Array(#"{"errorCode":\#(code),"errorMessage":"m"}"#.utf8)
    case 3:
      body = (0..<Int.random(in: 0..<64, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
    default: break
    }
    let status =
      [200, 200, 200, 202, 204, 302, 400, 401, 404, 429, 500, 503, 100, 599, 0, -1, .max]
      .randomElement(using: &dice) ?? 200
    let headers = [
      HTTPHeader(
        "Retry-After",
        ["1", "1759302569000", "-1", "soon", "99999999999999999"].randomElement(using: &dice) ?? ""),
      HTTPHeader(
        "Content-Type", ["application/json", "text/html", ";", ""].randomElement(using: &dice) ?? ""),
      HTTPHeader(
        "Location", ["/", "//evil.example", "http://localhost/", "", "\\"].randomElement(using: &dice) ?? ""),
    ]
    return .success(RemoteResponse(status: status, headers: headers, body: body))
  }

  @Test("10,000 calls with all kinds of faults: none accepts forged data, none exceeds its deadline")
  func faults() async throws {
    let compact = try TestReceipts().signedTransaction()
    let good = Array(#"{"signedTransactionInfo":"\#(compact)"}"#.utf8)
    let verifier = try StoreServer.verifier()
    let dice = Mutex(Dice(state: 20_251_001))
    let transport = FakeTransport { _ throws(HTTPTransportError) in
      try dice.withLock { Self.answer(good, with: &$0) }.get()
    }
    let time = ManualTime(StoreServer.now)
    let client = AppStoreServerClient(raw: try StoreServer.raw(transport, time: time), verifier: verifier)
    var successes = 0
    var failures: [String: Int] = [:]
    for _ in 0..<10_000 {
      let start = time.remoteTime.elapsed()
      do throws(AppStoreServerError) {
        let transaction = try await client.send(.transaction("2000000001"))
        #expect(transaction.payload == SampleReceipts.transaction)
        #expect(transaction.compact == compact)
        successes += 1
      } catch {
        #expect((1...4).contains(error.attempts))
        failures["\(error.cause)".prefix(12).description, default: 0] += 1
      }
      // Each of four tries may be redirected three times.
      #expect(transport.requests.count <= 16)
      #expect(time.remoteTime.elapsed() - start <= .seconds(30))
      transport.forgetRequests()
    }
    #expect(successes > 500)
    #expect(failures.count > 8)
  }
}
