// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTP
import ReceiptServiceClient
import Testing

/// Answers of a server, of one that is newer, and of one that is hostile.
@Suite struct AnswerTests {
  private static let verdict =
    #"{"type":"verdict","version":1,"verdict":"valid","grantsAccess":true,"transactions":[]}"#

  private static func failure(
    _ answers: [RemoteResponse],
    _ use: (ReceiptServerClient) async throws -> Void = {
      _ = try await $0.verify(Array("a secret receipt".utf8))
    }
  ) async throws -> (error: ReceiptServerError, requests: [RemoteRequest]) {
    let transport = ScriptedTransport(answers)
    do {
      try await use(transport.client())
    } catch let error as ReceiptServerError {
      let shown = "\(error) \(String(reflecting: error)) \(error.message)"
      #expect(!shown.contains(ScriptedTransport.key) && !shown.contains("a secret receipt"))
      #expect(error.operation != nil && error.traceID?.count == 32)
      return (error, transport.requests)
    }
    throw NoFailure()
  }
  private struct NoFailure: Error {}

  @Test(
    "an answer that is not of the API is an error of its own, and is not asked for again",
    arguments: [
      #"{"type":"verdict","version":1,"verdict":"val"#, "", "<html>valid</html>", #"["valid"]"#, "null",
      #"{"type":"entitlements","verdict":"valid"}"#, #"{"verdict":true}"#, #"{"verdict":["valid"]}"#,
      #"{"verdict":"valid","reason":[]}"#, #"{"verdict":"valid","transactions":{}}"#,
      #"{"verdict":"valid","grantsAccess":1}"#, #"{"verdict":"valid","index":1.5}"#,
      #"{"verdict":"valid","signedDate":"tomorrow"}"#, #"{"verdict":null}"#,
      #"{"verdict":"valid","verdict":"valid"}"#,
      #"{"verdict":"valid","entry":"-1"}"#, #"{"verdict":"valid","entry":"18446744073709551616"}"#,
      #"{"verdict":"valid","x":\#(String(repeating: "[", count: 100_000))"#,
    ])
  func malformed(body: String) async throws {
    let (error, requests) = try await Self.failure([.json(body)])
    #expect(error.code == .unexpected && error.status == 200 && !error.isRetryable)
    #expect(requests.count == 1)
  }

  @Test("an answer that is too long, or no text, is an error")
  func bytes() async throws {
    let long = RemoteResponse(status: 200, body: Array(repeating: 0x20, count: (1 << 20) + 1))
    #expect(try await Self.failure([long]).error.code == .unexpected)
    let invalid = RemoteResponse(status: 200, body: [0xFF, 0xFE])
    #expect(try await Self.failure([invalid]) { _ = try await $0.getHealth() }.error.code == .unexpected)
  }

  @Test("a redirect to another address gets no request", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    for location in ["https://thief.example.com/", "//thief.example.com/", "http://receipts.example.com/"] {
      let answer = RemoteResponse(status: status, headers: [HTTPHeader("Location", location)])
      for use in [
        { _ = try await $0.verify([1]) }, { _ = try await $0.getEntitlement("1") },
      ] as [(ReceiptServerClient) async throws -> Void] {
        let (error, requests) = try await Self.failure([answer], use)
        #expect(error.code == .redirected && error.status == status && requests.count == 1)
      }
    }
  }

  @Test("a problem is told with its code, and only what may pass is asked for again")
  func problems() async throws {
    for status in [400, 401, 403, 404, 406, 409, 413, 415, 422, 408, 425, 429, 500, 502, 503, 504] {
      let body =
        #"{"title":"T","status":\#(status),"code":"some-code","detail":"What to do.","place":"app","entry":"18446744073709551615","new":1}"#
      let (error, requests) = try await Self.failure([.json(body, status: status)])
      let mayPass = [408, 425, 429].contains(status) || status >= 500
      #expect(error.code == .refused && error.status == status && error.isRetryable == mayPass)
      #expect(
        error.problem?.code == "some-code" && error.problem?.entry == .max && error.problem?.place == "app")
      #expect(requests.count == (mayPass ? 3 : 1), "\(status)")
    }
    for body in [
      "<html>", #"{"status":404}"#, #"{"title":"T","status":401,"code":"c","detail":"d"}"#, #"{"errors":[]}"#,
    ] {
      #expect(try await Self.failure([.json(body, status: 404)]).error.code == .unexpected)
    }
    let openIAP = #"{"errors":[{"code":"INVALID_INPUT","message":"No.","path":"store"}]}"#
    let error = try await Self.failure([.json(openIAP, status: 400)]).error
    #expect(error.problem?.code == "INVALID_INPUT" && error.problem?.place == "store")
  }

  @Test("a request that must not be sent twice is sent once, unless it had no effect or has an identifier")
  func repetition() async throws {
    let create: (ReceiptServerClient) async throws -> Void = {
      _ = try await $0.createKey(ServerNewKey(name: "n", scopes: [.admin]))
    }
    let unavailable = RemoteResponse(status: 503)
    #expect(try await Self.failure([unavailable], create).requests.count == 1)
    #expect(try await Self.failure([RemoteResponse(status: 429)], create).requests.count == 3)
    for code in [HTTPTransportError.Code.connectionLost, .timedOut, .cannotConnect] {
      let transport = ScriptedTransport(results: [.failure(HTTPTransportError(code, "gone"))])
      await #expect { try await create(transport.client()) } throws: {
        ($0 as? ReceiptServerError)?.code == .unreachable
      }
      #expect(transport.requests.count == (code == .cannotConnect ? 3 : 1))
    }
    let grant: (ReceiptServerClient) async throws -> Void = {
      _ = try await $0.grantEntitlement("ann", grant: ServerNewGrant(entitlement: "e", reason: "r"))
    }
    let requests = try await Self.failure([unavailable], grant).requests
    #expect(requests.count == 3 && Set(requests.map(\.body)).count == 1)
    let sent = try JSONValue(parsing: try #require(requests[0].body))
    #expect(sent["id"]?.string?.hasPrefix("gr_") == true && sent["id"]?.string?.count == 35)
    let named = try await Self.failure([unavailable]) {
      _ = try await $0.grantEntitlement(
        "ann", grant: ServerNewGrant(entitlement: "e", reason: "r", id: "gr_1"))
    }
    #expect(try JSONValue(parsing: try #require(named.requests[0].body))["id"]?.string == "gr_1")
  }

  @Test("the delay that a server asks for is kept, and told if it is too long")
  func delays() async throws {
    let later = RemoteResponse(status: 503, headers: [HTTPHeader("Retry-After", "7")])
    let transport = ScriptedTransport([later, .json(Self.verdict)])
    #expect(try await transport.client().verify([1]).isValid)
    #expect(transport.sleeps == [.seconds(7)])
    let tomorrow = RemoteResponse(status: 503, headers: [HTTPHeader("Retry-After", "86400")])
    let (error, requests) = try await Self.failure([tomorrow])
    #expect(error.retryAfter == Timestamp(secondsSince1970: 1_800_086_400) && requests.count == 1)
  }

  @Test("members, words and objects that are new are tolerated, and grant nothing")
  func news() async throws {
    let body = """
      {"type":"verdict","version":1,"verdict":"doubtful","standing":"paused","news":{"a":[1]},"environment":"Moon",
       "signedDate":"+012026-01-01T00:00:00.000Z","entry":"18446744073709551615","bundleId":null,
       "transactions":[{"productId":"p","grantsAccess":true,"color":"red"}]}
      """
    let verdict = try await ScriptedTransport([.json(body)]).client().verify([1])
    #expect(
      verdict.verdict == ServerVerdictWord(rawValue: "doubtful") && verdict.environment?.rawValue == "Moon")
    #expect(!verdict.isValid && !verdict.shouldRetry && verdict.activePurchases.isEmpty)
    #expect(verdict.entry == .max && verdict.bundleId == nil)
    let undetermined = #"{"verdict":"undetermined","retryable":true,"transactions":[{"grantsAccess":true}]}"#
    let second = try await ScriptedTransport([.json(undetermined)]).client().verify([1])
    #expect(second.shouldRetry && second.activePurchases.isEmpty)
    let owned = #"{"entitlements":[{"customer":"ann","entitlement":{"type":"moon-purchase","state":"x"}}]}"#
    let answer = try await ScriptedTransport([.json(owned)]).client().getEntitlement("1")
    guard case .other(let value) = try #require(answer.entitlements.first).entitlement else {
      Issue.record("a new object was taken for another one")
      return
    }
    #expect(value["state"]?.string == "x")
  }

  @Test("an answer that is known is not sent again")
  func entityTags() async throws {
    let body = #"{"access":[{"name":"premium","standing":"active","grantsAccess":true}],"entitlements":[]}"#
    let transport = ScriptedTransport([
      .json(body, headers: [HTTPHeader("etag", #""a""#)]), RemoteResponse(status: 304),
      RemoteResponse(status: 304),
    ])
    let client = transport.client()
    let answer = try await client.getCustomerEntitlements("ann")
    #expect(
      answer.entityTag == #""a""# && answer.grantsAccess(to: "premium") && !answer.grantsAccess(to: "gold"))
    #expect(try await client.getCustomerEntitlements("ann", known: answer) == answer)
    #expect(transport.requests[1].headers.contains(HTTPHeader("If-None-Match", #""a""#)))
    await #expect { _ = try await client.getCustomerEntitlements("ann") } throws: {
      ($0 as? ReceiptServerError)?.code == .unexpected
    }
  }

  @Test("verdicts of a batch are never those of other receipts")
  func batches() async throws {
    func line(_ index: Int, _ verdict: String = "valid") -> String {
      #"{"type":"verdict","version":1,"index":\#(index),"verdict":"\#(verdict)"}"#
    }
    let receipts = [[UInt8]](repeating: Array("x".utf8), count: 2)
    let good = ScriptedTransport([.json("\(line(0))\n\(line(1, "invalid"))\n")])
    #expect(try await good.client().verifyBatch(receipts).map(\.verdict) == [.valid, .invalid])
    #expect(try #require(good.requests.first).body == Array("x\nx\n".utf8))
    for answer in [
      line(0), "\(line(0))\n\(line(0))", "\(line(1))\n\(line(0))", "\(line(0))\n\(line(1))\n\(line(2))", "",
    ] {
      await #expect {
        _ = try await ScriptedTransport([.json(answer)]).client().verifyBatch(receipts)
      } throws: {
        ($0 as? ReceiptServerError)?.code == .unexpected
      }
    }
    // Those of several requests count on.
    let large = [[UInt8]](repeating: [UInt8](repeating: 0x78, count: 200_000), count: 2)
    let twice = ScriptedTransport([.json(line(0))])
    #expect(try await twice.client().verifyBatch(large).map(\.index) == [0, 1])
    for receipts in [[[]], [Array("a\nb".utf8)]] as [[[UInt8]]] {
      await #expect { _ = try await good.client().verifyBatch(receipts) } throws: {
        ($0 as? ReceiptServerError)?.code == .invalid
      }
    }
  }

  @Test("the text of a new key is not printed")
  func secrets() async throws {
    let key = try await ScriptedTransport([.json(#"{"type":"key","version":1,"id":"i","key":"rk_new"}"#)])
      .client()
      .createKey(ServerNewKey(name: "n", scopes: [.read]))
    #expect(key.key == "rk_new")
    var dumped = ""
    dump([key], to: &dumped)
    #expect(!"\(key) \([key]) \(String(reflecting: [key]))\(dumped)".contains("rk_new"))
  }

  @Test("a webhook is taken if its signature is right, and not otherwise")
  func webhooks() throws {
    let secret = [UInt8](repeating: 7, count: 32)
    let text = "whsec_" + Base64.encodeToString(secret)
    let now = Timestamp(secondsSince1970: 1_800_000_000)
    let body = Array(
      #"{"type":"entitlement.granted","timestamp":"2026-01-02T03:04:05.678Z","data":{"app":"shop","customer":"ann","entitlement":{"type":"new"}}}"#
        .utf8)
    func headers(_ body: [UInt8], _ time: String = "1800000000") throws -> [HTTPHeader] {
      let id = "msg_1"
      let code = try HMAC.code(for: Array("\(id).\(time).".utf8) + body, key: secret, using: .sha256)
      return [
        HTTPHeader("Webhook-Id", id), HTTPHeader("webhook-timestamp", time),
        HTTPHeader("webhook-signature", "v2,x v1,AAAA v1,\(Base64.encodeToString(code))"),
      ]
    }
    func taken(_ body: [UInt8], _ headers: [HTTPHeader], _ secrets: [String]) -> ServerWebhook? {
      ServerWebhook(verifying: body, headers: headers, secrets: secrets.map { Secret($0) }, at: now)
    }
    let signed = try headers(body)
    let webhook = try #require(taken(body, signed, ["whsec_AAAA", text]))
    #expect(webhook.id == "msg_1" && webhook.change.data.customer == "ann" && webhook.sent == now)
    for index in body.indices {
      var altered = body
      altered[index] ^= 1
      #expect(taken(altered, signed, [text]) == nil)
    }
    #expect(taken(body, signed, [text.replacing("Bw", with: "Cw")]) == nil)
    #expect(taken(body, signed, []) == nil && taken(body, [], [text]) == nil)
    #expect(taken(body, [HTTPHeader("webhook-id", "msg_2")] + signed, [text]) == nil)
    for time in ["1799999699", "1800000301", "+1800000000", "x", "", "99999999999999999999"] {
      #expect(taken(body, try headers(body, time), [text]) == nil, "\(time)")
    }
    #expect(taken([], try headers([]), [text]) == nil)
  }
}
