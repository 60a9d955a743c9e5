// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import AppStoreServer
import ReceiptCodec
import ReceiptTesting
import Testing

/// The input that the control interface takes. It takes nothing else.
@Suite struct EmulatorControlTests {
  private let fixture: EmulatorFixture

  init() async throws { fixture = try await EmulatorFixture() }

  private static let target = "/inApps/v1/transactions/2000000001"

  private func control(_ path: String, _ body: String, of store: EmulatedAppStore? = nil) async throws -> (
    Int, String?
  ) {
    let request = EmulatorRequest("POST", target: "/_emulator/\(path)", body: Array(body.utf8))
    let response = try #require(await EmulatorControl(store ?? fixture.store).respond(to: request))
    return (response.status, try JSONValue(parsing: response.body)["error"]?.string)
  }

  private func delivery() async -> EmulatorDelivery {
    await fixture.store.deliver(EmulatorRequest("GET", target: Self.target))
  }

  @Test(
    "a rule with a misspelt member, a wrong type or an unknown kind changes nothing, and the error names it",
    arguments: [
      (
        #"{"faults": [{"kind": "not-http"}], "request": 1}"#,
        #"In the control request: no such member; correct its spelling or remove it. ($.request)"#
      ),
      (
        #"{"fault": [{"kind": "not-http"}]}"#,
        #"In the control request: no such member; correct its spelling or remove it. ($.fault)"#
      ),
      (#"{"requests": 1}"#, #"In the control request: the member "faults" is required. ($.faults)"#),
      (
        #"{"faults": {"kind": "not-http"}}"#,
        #"In the control request: expected an array, found an object. ($.faults)"#
      ),
      (#"{"faults": []}"#, #""faults" is empty."#),
      (#"[]"#, #"In the control request: expected an object, found an array. ($)"#),
      (
        #"{"faults": ["not-http"]}"#,
        #"In the control request: expected an object, found a string. ($.faults[0])"#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "requests": "1"}"#,
        #"In the control request: expected an integer, found a string. ($.requests)"#
      ),
      (#"{"faults": [{"kind": "not-http"}], "requests": 0}"#, #""requests" is less than 1."#),
      (
        #"{"faults": [{"kind": "not-http"}], "probability": 1.5}"#,
        #""probability" is not a number of 0 to 1."#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "seed": true}"#,
        #"In the control request: expected an integer, found true. ($.seed)"#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "path": "inApps"}"#, #""path" is not a text that begins with /."#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "target": 1}"#,
        #"In the control request: expected a string, found a number. ($.target)"#
      ),
      (#"{"faults": [{}]}"#, #"In the control request: the member "kind" is required. ($.faults[0].kind)"#),
      (#"{"faults": [{"kind": "cut"}]}"#, #"A fault of the kind "cut" needs "afterBytes"."#),
      (
        #"{"faults": [{"kind": "cut", "afterBytes": -1}]}"#,
        #""afterBytes" of the kind "cut" is -1, and not in 0...9223372036854775807."#
      ),
      (
        #"{"faults": [{"kind": "not-http", "afterBytes": 1}]}"#,
        #"A fault of the kind "not-http" has no "afterBytes"."#
      ),
      (
        #"{"faults": [{"kind": "cut", "afterBytes": 1, "requests": 1}]}"#,
        #"A fault of the kind "cut" has no "requests"."#
      ),
      (
        #"{"faults": [{"kind": "status", "status": 99}]}"#,
        #""status" of the kind "status" is 99, and not in 200...599."#
      ),
      (
        #"{"faults": [{"kind": "status", "status": 503, "retryAfter": "minutes"}]}"#,
        #"In the control request: "minutes" is not one of: milliseconds, seconds, date. ($.faults[0].retryAfter)"#
      ),
      (
        #"{"faults": [{"kind": "receipt-status", "status": 21009, "isRetryable": 1}]}"#,
        #"In the control request: expected true or false, found a number. ($.faults[0].isRetryable)"#
      ),
      (#"{"faults": [{"kind": "redirect"}]}"#, #"A fault of the kind "redirect" needs "target"."#),
    ])
  func strictRules(rule: String, message: String) async throws {
    let (status, error) = try await control("faults", "[\(rule)]")
    #expect(status == 400 && error == "Rule 0: \(message)")
    #expect(await delivery().end == .keepOpen)
    #expect(try await control("faults?append=yes", "[]").0 == 400)
  }

  @Test("the error about an unknown kind lists the kinds")
  func unknownKind() async throws {
    let (status, error) = try await control("faults", #"[{"faults": [{"kind": "cutt"}]}]"#)
    let message = try #require(error)
    #expect(
      status == 400
        && message.hasPrefix(#"Rule 0: The kind "cutt" is not one of: delay, never-answer, cut, reset,"#))
    // A member that no kind has is named first.
    #expect(
      try await control("faults", #"[{"faults": [{"kind": "cut", "afterByte": 1}]}]"#).1?.contains(
        "$.faults[0].afterByte)") == true)
  }

  @Test("instructions for the responder are as strict")
  func strictInstructions() async throws {
    let store = try EmulatedAppStore(signing: try EmulatorSigning(serverURL: "http://127.0.0.1:1"))
    for (instruction, message) in [
      (
        #"{"revok": "leaf"}"#,
        "In the control request: no such member; correct its spelling or remove it. ($.revok)"
      ),
      (
        #"{"revoke": "root"}"#,
        #"In the control request: "root" is not one of: leaf, intermediate. ($.revoke)"#
      ),
      (#"{"reset": "yes"}"#, "In the control request: expected true or false, found a string. ($.reset)"),
      (#"{"signer": "me"}"#, #"In the control request: "me" is not one of: issuer, delegate. ($.signer)"#),
      (#"{"lifetime": -1}"#, #""lifetime" is not a whole number of 0 to 31536000."#),
    ] {
      let (status, error) = try await control("ocsp", instruction, of: store)
      #expect(status == 400 && error == message)
    }
    for instruction in [#"{"flaw": "stale", "lifetime": 60}"#, #"{"flaw": null, "lifetime": null}"#] {
      #expect(try await control("ocsp", instruction, of: store).0 == 200)
    }
  }

  @Test(
    "a rate limit answers so many requests in each period, and then with the instant at which the next begins"
  )
  func rateLimit() async throws {
    #expect(
      try await control(
        "faults",
        """
        [{"faults": [{"kind": "rate-limit", "requests": 2, "seconds": 10}], "path": "/inApps/"},
         {"faults": [{"kind": "status", "status": 503}], "target": "\(Self.target)?second"}]
        """
      ).0 == 200)
    for _ in 0..<3 {
      #expect(await delivery().status == 200)
      // Within the limit the next rule applies.
      let second = await fixture.store.deliver(EmulatorRequest("GET", target: "\(Self.target)?second"))
      #expect(second.status == 503)
      fixture.clock.advance(seconds: 4)
      for _ in 0..<2 {
        guard case .send(let bytes) = await delivery().steps.first else {
          throw EmulatorProcess.Failure(reason: "")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
        #expect(text.contains("\r\nRetry-After: \(fixture.clock.now.addingSeconds(6).wholeMilliseconds)\r\n"))
        #expect(text.hasSuffix(#"{"errorCode":4290000,"errorMessage":"Too many requests in this hour."}"#))
      }
      // Nobody else is limited.
      #expect(await fixture.store.deliver(EmulatorRequest("GET", target: "/crl/root.crl")).status == 404)
      fixture.clock.advance(seconds: 6)
    }
  }

  @Test("our client waits as long as a rate limit says")
  func clientWaits() async throws {
    fixture.store.faults.replace(with: [.always(.rateLimit(requests: 1, seconds: 30))])
    let client = try fixture.client
    _ = try await client.send(.transaction("2000000001"))
    let end = fixture.clock.now.addingSeconds(30)
    do throws(AppStoreServerError) {
      _ = try await client.send(.transaction("2000000001"))
      Issue.record("It is within no limit.")
    } catch {
      #expect(error.cause == .rateLimited(retryAfter: end))
    }
  }

  @Test("whole URLs as targets are read as their path and query")
  func absoluteTargets() {
    for (target, path) in [
      ("http://localhost:1/a/b?c=d", "/a/b?c=d"), ("HTTPS://x/", "/"), ("http://x", "/"),
      ("http://x?c", "/?c"),
      ("/http://x/y", "/http://x/y"), ("*", "*"),
    ] {
      #expect(EmulatorRequest("GET", target: target).target == path)
    }
  }
}
