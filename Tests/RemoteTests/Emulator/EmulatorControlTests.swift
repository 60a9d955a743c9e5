// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import AppStoreServer
import ReceiptCodec
import ReceiptTesting
import Testing

/// What the control interface takes, and that it takes nothing else.
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
        #"There is no member "[0].request". Known are: faults, requests, probability, seed, path, target."#
      ),
      (
        #"{"fault": [{"kind": "not-http"}]}"#,
        #"There is no member "[0].fault". Known are: faults, requests, probability, seed, path, target."#
      ),
      (#"{"requests": 1}"#, #"The member "[0].faults" is missing."#),
      (#"{"faults": {"kind": "not-http"}}"#, #""[0].faults" is not a list."#),
      (#"{"faults": []}"#, #""[0].faults" is empty."#),
      (#"[]"#, #"[0] is not an object."#),
      (#"{"faults": ["not-http"]}"#, #"[0].faults[0] is not an object."#),
      (
        #"{"faults": [{"kind": "not-http"}], "requests": "1"}"#,
        #""[0].requests" is not a whole number of at least 1."#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "requests": 0}"#,
        #""[0].requests" is not a whole number of at least 1."#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "probability": 1.5}"#,
        #""[0].probability" is not a number of 0.0 to 1.0."#
      ),
      (#"{"faults": [{"kind": "not-http"}], "seed": true}"#, #""[0].seed" is not a whole number."#),
      (
        #"{"faults": [{"kind": "not-http"}], "path": "inApps"}"#,
        #""[0].path" is not a text that begins with /."#
      ),
      (
        #"{"faults": [{"kind": "not-http"}], "target": 1}"#,
        #""[0].target" is not a text that begins with /."#
      ),
      (#"{"faults": [{}]}"#, #"The member "[0].faults[0].kind" is missing."#),
      (#"{"faults": [{"kind": "cut"}]}"#, #"The member "[0].faults[0].afterBytes" is missing."#),
      (
        #"{"faults": [{"kind": "cut", "afterBytes": -1}]}"#,
        #""[0].faults[0].afterBytes" is not a whole number of at least 0."#
      ),
      (
        #"{"faults": [{"kind": "not-http", "afterBytes": 1}]}"#,
        #"There is no member "[0].faults[0].afterBytes". Known are: kind."#
      ),
      (
        #"{"faults": [{"kind": "cut", "afterBytes": 1, "requests": 1}]}"#,
        #"There is no member "[0].faults[0].requests". Known are: kind, afterBytes."#
      ),
      (
        #"{"faults": [{"kind": "status", "status": 99}]}"#,
        #""[0].faults[0].status" is not a whole number of 200 to 599."#
      ),
      (
        #"{"faults": [{"kind": "status", "status": 503, "retryAfter": "minutes"}]}"#,
        #""[0].faults[0].retryAfter" is not one of: milliseconds, seconds, date."#
      ),
      (
        #"{"faults": [{"kind": "receipt-status", "status": 21009, "isRetryable": 1}]}"#,
        #""[0].faults[0].isRetryable" is not true or false."#
      ),
      (#"{"faults": [{"kind": "redirect"}]}"#, #"The member "[0].faults[0].target" is missing."#),
    ])
  func strictRules(rule: String, message: String) async throws {
    let (status, error) = try await control("faults", "[\(rule)]")
    #expect(status == 400 && error == message)
    #expect(await delivery().end == .keepOpen)
    #expect(try await control("faults?append=yes", "[]").0 == 400)
  }

  @Test("the error about an unknown kind lists the kinds")
  func unknownKind() async throws {
    let (status, error) = try await control("faults", #"[{"faults": [{"kind": "cutt"}]}]"#)
    let message = try #require(error)
    #expect(status == 400 && message.hasPrefix(#""[0].faults[0].kind" is not one of: delay, cut, reset,"#))
    // A member that no kind has is named first.
    #expect(
      try await control("faults", #"[{"faults": [{"kind": "cut", "afterByte": 1}]}]"#).1?.contains(
        "afterByte\"") == true)
  }

  @Test("instructions for the responder are as strict")
  func strictInstructions() async throws {
    let store = try EmulatedAppStore(signing: try EmulatorSigning(serverURL: "http://127.0.0.1:1"))
    for (instruction, message) in [
      (
        #"{"revok": "leaf"}"#,
        #"There is no member "revok". Known are: reset, flaw, lifetime, signer, repeatsNonce, revoke, forget."#
      ), (#"{"revoke": "root"}"#, #""revoke" is not one of: leaf, intermediate."#),
      (#"{"reset": "yes"}"#, #""reset" is not true or false."#),
      (#"{"signer": "me"}"#, #""signer" is not one of: issuer, delegate."#),
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
        #expect(text.hasSuffix(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#))
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
