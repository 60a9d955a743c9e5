// SPDX-License-Identifier: Apache-2.0

@testable import GooglePlay
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import Synchronization
import Testing

/// Tokens of push requests: the genuine one, and each alteration with its reason.
@Suite struct PushTokenTests {
  private static func rejection(
    _ authorization: String?, keys transport: FakeTransport? = nil, at instant: Timestamp = PlayFixture.now
  ) async throws -> PushTokenRejection.Code? {
    let verifier = PlayFixture.verifier(try transport ?? PlayFixture.keys(), time: ManualTime(instant))
    do throws(PushTokenRejection) {
      _ = try await verifier.verify(authorization: authorization)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("a genuine token is accepted, with either spelling of the issuer")
  func genuine() async throws {
    for issuer in ["https://accounts.google.com", "accounts.google.com"] {
      let token = try PlayFixture.pushToken { $0.set("iss", .string(issuer)) }
      let verified = try await PlayFixture.verifier(PlayFixture.keys()).verify(
        authorization: "Bearer \(token)")
      #expect(verified.email == PlayFixture.pushEmail)
      #expect(verified.subject == "113774264463038321964")
      #expect(verified.issuedAt == Timestamp(secondsSince1970: 1_759_999_900))
      #expect(verified.expiresAt == Timestamp(secondsSince1970: 1_760_003_500))
    }
  }

  struct Altered: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: PushTokenRejection.Code
    let authorization: @Sendable () throws -> String?

    init(
      _ description: String, _ code: PushTokenRejection.Code,
      _ authorization: @escaping @Sendable () throws -> String?
    ) {
      testDescription = description
      self.code = code
      self.authorization = authorization
    }

    init(
      claim name: String, _ value: JSONValue?, _ code: PushTokenRejection.Code
    ) {
      self.init("\(name) \(value.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? "absent")", code) {
        "Bearer " + (try PlayFixture.pushToken { $0.set(name, value) })
      }
    }
  }

  private static func header(_ algorithm: String, _ more: [(String, JSONValue)] = []) -> [(String, JSONValue)]
  {
    [("alg", .string(algorithm)), ("kid", .string(PlayFixture.keyId)), ("typ", .string("JWT"))] + more
  }

  @Test(
    "altered tokens are refused, each for its own reason",
    arguments: [
      Altered("no header", .missing) { nil },
      Altered("another scheme", .missing) { "Basic " + (try PlayFixture.pushToken()) },
      Altered("no token", .malformed) { "Bearer  " },
      Altered("two parts", .malformed) {
        "Bearer " + (try PlayFixture.pushToken()).split(separator: ".").prefix(2).joined(separator: ".")
      },
      Altered("four parts", .malformed) { "Bearer " + (try PlayFixture.pushToken()) + ".x" },
      Altered("an endless token", .tooLarge) {
        "Bearer " + (try PlayFixture.pushToken { $0.set("x", .string(String(repeating: "x", count: 9000))) })
      },
      Altered("claims that are no object", .malformed) {
        let input =
          Base64URL.encode(
            JSONValue.object(header("RS256").map { JSONMember(name: $0, value: $1) }).encoded())
          + Array(".".utf8) + Base64URL.encode(Array("[]".utf8))
        let signature = try TestKeys.otherRSA().signature(for: input, using: .rsaPKCS1v15(.sha256))
        return "Bearer "
          + String(decoding: JWSWriter.compact(signingInput: input, signature: signature), as: UTF8.self)
      },
      Altered("alg none, without a signature", .unsupportedAlgorithm) {
        let token = try PlayFixture.pushToken(header: header("none"))
        return "Bearer " + token.split(separator: ".").prefix(2).joined(separator: ".") + "."
      },
      Altered("alg HS256", .unsupportedAlgorithm) {
        "Bearer " + (try PlayFixture.pushToken(header: header("HS256")))
      },
      Altered("alg rs256 in lower case", .unsupportedAlgorithm) {
        "Bearer " + (try PlayFixture.pushToken(header: header("rs256")))
      },
      Altered("a critical extension", .unsupportedAlgorithm) {
        "Bearer "
          + (try PlayFixture.pushToken(header: header("RS256", [("crit", .array([.string("exp")]))])))
      },
      Altered("signed with SHA-512", .badSignature) {
        "Bearer " + (try PlayFixture.pushToken(algorithm: .rsaPKCS1v15(.sha512)))
      },
      Altered("signed by another key", .badSignature) {
        "Bearer " + (try PlayFixture.pushToken(key: .generateRSA()))
      },
      Altered("a bit of the signature flipped", .badSignature) {
        var jws = Array((try PlayFixture.pushToken()).utf8)
        let index = jws.count - 20
        jws[index] = jws[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return "Bearer " + String(decoding: jws, as: UTF8.self)
      },
      Altered("the claims of another token", .badSignature) {
        let genuine = (try PlayFixture.pushToken()).split(separator: ".")
        let other = (try PlayFixture.pushToken { $0.set("email", .string("a@b.c")) }).split(separator: ".")
        return "Bearer \(genuine[0]).\(other[1]).\(genuine[2])"
      },
      Altered("an unknown key", .unknownKey) {
        "Bearer " + (try PlayFixture.pushToken(header: [("alg", .string("RS256")), ("kid", .string("zz"))]))
      },
      Altered("no key", .unknownKey) {
        "Bearer " + (try PlayFixture.pushToken(header: [("alg", .string("RS256"))]))
      },
      Altered(claim: "iss", .string("https://accounts.example.com"), .wrongIssuer),
      Altered(claim: "iss", nil, .wrongIssuer),
      Altered(claim: "iss", .string("http://accounts.google.com"), .wrongIssuer),
      Altered(claim: "aud", .string("https://example.com/other"), .wrongAudience),
      Altered(claim: "aud", .array([.string(PlayFixture.audience)]), .wrongAudience),
      Altered(claim: "aud", nil, .wrongAudience),
      Altered(claim: "exp", .integer(1_759_999_940), .expired),
      Altered(claim: "exp", .string("1760003500"), .malformed),
      Altered(claim: "exp", nil, .malformed),
      Altered(claim: "exp", .integer(.max), .malformed),
      Altered(claim: "iat", .integer(1_760_000_061), .issuedInFuture),
      Altered(claim: "iat", nil, .malformed),
      Altered(claim: "email", .string("push@evil.iam.gserviceaccount.com"), .wrongEmail),
      Altered(claim: "email", nil, .wrongEmail),
      Altered(claim: "email_verified", .bool(false), .emailNotVerified),
      Altered(claim: "email_verified", .string("true"), .emailNotVerified),
      Altered(claim: "email_verified", nil, .emailNotVerified),
    ])
  func altered(_ altered: Altered) async throws {
    #expect(try await Self.rejection(altered.authorization()) == altered.code)
  }

  @Test("the clocks may differ by a minute and no more")
  func skew() async throws {
    let token = "Bearer " + (try PlayFixture.pushToken())
    for (seconds, code) in [(1_760_003_559, nil), (1_760_003_560, PushTokenRejection.Code.expired)] {
      #expect(try await Self.rejection(token, at: Timestamp(secondsSince1970: Int64(seconds))) == code)
    }
    for (seconds, code) in [(1_759_999_840, nil), (1_759_999_839, PushTokenRejection.Code.issuedInFuture)] {
      #expect(try await Self.rejection(token, at: Timestamp(secondsSince1970: Int64(seconds))) == code)
    }
  }

  @Test("without keys a token is undetermined, and is not asked about again at once")
  func noKeys() async throws {
    for response in [
      RemoteResponse(status: 500), RemoteResponse(status: 404), .json("[]"), .json(#"{"keys":[{"kid":1}]}"#),
    ] {
      let transport = FakeTransport(response)
      let time = ManualTime(PlayFixture.now)
      let verifier = PlayFixture.verifier(transport, time: time)
      let token = "Bearer " + (try PlayFixture.pushToken())
      for _ in 0..<3 {
        let error = await #expect(throws: PushTokenRejection.self) {
          try await verifier.verify(authorization: token)
        }
        #expect(error?.code == .keysUnavailable)
        #expect(error?.isRetryable == true)
      }
      #expect(transport.requests.count == 1)
      time.advance(by: .seconds(10))
      _ = try? await verifier.verify(authorization: token)
      #expect(transport.requests.count == 2)
    }
  }

  @Test("keys are held as long as their response says, less its age")
  func cached() async throws {
    for (headers, seconds) in [
      (
        [HTTPHeader("Cache-Control", "public, max-age=1000, must-revalidate"), HTTPHeader("Age", "100")], 900
      ),
      ([HTTPHeader("Cache-Control", "max-age=1")], 60), ([HTTPHeader("Cache-Control", "no-store")], 60),
      ([HTTPHeader("Cache-Control", "max-age=999999999")], 86_400), ([], 300),
      ([HTTPHeader("Cache-Control", "max-age=-5, max-age=x")], 300),
    ] {
      let transport = FakeTransport(.json(try PlayFixture.keySet(), headers: headers))
      let time = ManualTime(PlayFixture.now)
      let verifier = PlayFixture.verifier(transport, time: time)
      let token =
        "Bearer " + (try PlayFixture.pushToken { $0.set("exp", .integer(1_760_000_000 + 100_000)) })
      _ = try await verifier.verify(authorization: token)
      time.advance(by: .seconds(seconds - 1))
      _ = try await verifier.verify(authorization: token)
      #expect(transport.requests.count == 1)
      time.advance(by: .seconds(1))
      _ = try await verifier.verify(authorization: token)
      #expect(transport.requests.count == 2)
    }
  }

  @Test("an unknown key has the keys requested anew, once a minute at most")
  func rotated() async throws {
    let isRotated = Mutex(false)
    let (old, new) = (try PlayFixture.keySet(), try PlayFixture.keySet([PlayFixture.keyId, "c2"]))
    let transport = FakeTransport { _ throws(HTTPTransportError) in
      .json(
        isRotated.withLock { $0 } ? new : old, headers: [HTTPHeader("Cache-Control", "max-age=20000")])
    }
    let time = ManualTime(PlayFixture.now)
    let verifier = PlayFixture.verifier(transport, time: time)
    func code(_ key: String) async throws -> PushTokenRejection.Code? {
      let token = try PlayFixture.pushToken(header: [("alg", .string("RS256")), ("kid", .string(key))])
      do throws(PushTokenRejection) {
        _ = try await verifier.verify(authorization: "Bearer \(token)")
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try await code(PlayFixture.keyId) == nil)
    isRotated.withLock { $0 = true }
    for _ in 0..<5 { #expect(try await code("c2") == .unknownKey) }
    #expect(transport.requests.count == 1)
    time.advance(by: .seconds(60))
    #expect(try await code("c2") == nil)
    for _ in 0..<5 { #expect(try await code("forged") == .unknownKey) }
    #expect(transport.requests.count == 2)
  }

  @Test("keys of other types, of other uses and too short ones are none")
  func otherKeys() async throws {
    let token = "Bearer " + (try PlayFixture.pushToken())
    let set = try PlayFixture.keySet()
    for (old, new) in [
      (#""kty":"RSA""#, #""kty":"EC""#), (#""use":"sig""#, #""use":"enc""#),
      (#""use":"sig""#, #""use":"sig","key_ops":["sign"]"#),
      (#""use":"sig""#, #""key_ops":["encrypt","wrapKey"]"#),
      (#""use":"sig""#, #""use":"enc","key_ops":["verify"]"#), (#""use":"sig""#, #""key_ops":[]"#),
      (#""alg":"RS256""#, #""alg":"RS512""#), (#""e":"AQAB""#, #""e":"!""#), (#""n":""#, #""m":""#),
    ] {
      let transport = FakeTransport(.json(set.replacing(old, with: new)))
      #expect(try await Self.rejection(token, keys: transport) == .unknownKey)
    }
    for operations in [#""use":"sig","key_ops":["verify"]"#, #""key_ops":["sign","verify"]"#] {
      let transport = FakeTransport(.json(set.replacing(#""use":"sig""#, with: operations)))
      #expect(try await Self.rejection(token, keys: transport) == nil)
    }
    let short = try PrivateKey.generateRSA(bits: 1024)
    let transport = FakeTransport(.json(try PlayFixture.keySet(key: short)))
    #expect(
      try await Self.rejection("Bearer " + (try PlayFixture.pushToken(key: short)), keys: transport)
        == .unknownKey)
  }
}
