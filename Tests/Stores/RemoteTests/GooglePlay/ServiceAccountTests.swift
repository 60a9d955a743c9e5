// SPDX-License-Identifier: Apache-2.0

@testable import GooglePlay
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import Synchronization
import Testing

/// The key file, the assertions, and the access token that all tasks share.
@Suite struct ServiceAccountTests {
  @Test("an assertion has the header, the claims and the signature of the grant")
  func assertion() throws {
    let account = try PlayFixture.account()
    let text = try account.assertion(scope: "s", issuedAt: PlayFixture.now)
    let jws = try UnverifiedJWS(parsing: Array(text.utf8))
    let header = try jws.header()
    #expect((header.alg, header.kid, header.typ) == ("RS256", "0123456789abcdef", "JWT"))
    #expect(
      String(decoding: jws.payload, as: UTF8.self)
        == #"{"iss":"play@example.iam.gserviceaccount.com","scope":"s","#
        + #""aud":"https://oauth2.googleapis.com/token","iat":1760000000,"exp":1760003600}"#)
    #expect(
      try TestKeys.otherRSA().publicKey.isValidSignature(
        jws.signature, for: Array(jws.compact[jws.signingInputRange]), using: .rsaPKCS1v15(.sha256)))
  }

  @Test(
    "a key file without a member, or with another type, is refused by its place",
    arguments: [
      ("type", nil), ("type", "authorized_user"), ("private_key", nil), ("private_key", "x"),
      ("private_key_id", ""), ("client_email", nil), ("token_uri", nil),
      ("token_uri", "http://example.com/token"),
    ])
  func keyFiles(name: String, value: String?) throws {
    let file = try PlayFixture.keyFile { $0[name] = value }
    let error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(keyFile: file) }
    #expect(error?.place == "$.\(name)")
  }

  @Test("a key that is not RSA, and what is no object, is refused")
  func otherFiles() throws {
    let file = try PlayFixture.keyFile { $0["private_key"] = try? TestKeys.developer().pkcs8PEM() }
    var error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(keyFile: file) }
    #expect(error?.place == "$.private_key")
    error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(keyFile: Array("[]".utf8)) }
    #expect(error?.place == "$")
    let twice = Array(#"{"type":"service_account","type":"service_account"}"#.utf8)
    error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(keyFile: twice) }
    #expect(error?.place == "$")
  }

  @Test("a hundred tasks share one request for the access token")
  func shared() async throws {
    let transport = PlayFixture.transport([.json("{}")])
    let client = try PlayFixture.client(transport)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<100 {
        group.addTask { _ = try await client.calling(for: "com.example.app\(index)").send(.product("t")) }
      }
      try await group.waitForAll()
    }
    let (tokens, calls) = (
      transport.requests.filter(PlayFixture.isTokenRequest), transport.requests.count - 1
    )
    #expect(tokens.count == 1)
    #expect(calls == 100)
    let body = try #require(tokens.first?.body)
    #expect(
      String(decoding: body, as: UTF8.self).hasPrefix(
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=ey"))
  }

  @Test("a token is renewed a minute before it expires")
  func renewed() async throws {
    let time = ManualTime(PlayFixture.now)
    let transport = PlayFixture.transport([.json("{}")])
    let client = try PlayFixture.client(transport, time: time)
    _ = try await client.send(.product("t"))
    time.advance(by: .seconds(3538))
    _ = try await client.send(.product("t"))
    time.advance(by: .seconds(1))
    _ = try await client.send(.product("t"))
    let sent = transport.requests.compactMap { $0.headers.first { $0.name == "Authorization" }?.value }
    #expect(sent == ["Bearer token-1", "Bearer token-1", "Bearer token-2"])
  }

  @Test("a token that is refused is renewed once, and the call sent again")
  func refused() async throws {
    let transport = PlayFixture.transport([
      PlayFixture.error(401, "UNAUTHENTICATED"), .json("{}"),
    ])
    _ = try await PlayFixture.client(transport).send(.product("t"))
    let sent = transport.requests.compactMap { $0.headers.first { $0.name == "Authorization" }?.value }
    #expect(sent == ["Bearer token-1", "Bearer token-2"])
  }

  @Test("a refusal of the grant is an error that is not tried again; one that passes is")
  func grantRefused() async throws {
    for (status, requests) in [(400, 1), (401, 1), (503, 4)] {
      let transport = FakeTransport(
        .json(#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#, status: status))
      let client = try PlayFixture.client(transport)
      let error = await playError { () async throws(GooglePlayError) in try await client.send(.product("t")) }
      #expect(
        error?.cause
          == .tokenRefused(
            httpStatus: status, error: "invalid_grant", message: "Invalid JWT Signature."))
      #expect(error?.attempts == 0)
      #expect(error?.isRetryable == (requests == 4))
      #expect(transport.requests.count == requests)
    }
  }

  @Test("a token that would break out of its header is refused")
  func hostileToken() async throws {
    let transport = FakeTransport(
      .json(#"{"access_token":"a\r\nX: y","token_type":"Bearer","expires_in":3599}"#))
    let client = try PlayFixture.client(transport)
    let error = await playError { () async throws(GooglePlayError) in try await client.send(.product("t")) }
    #expect(error?.cause == .tokenRefused(httpStatus: 200, error: nil, message: nil))
    #expect(transport.requests.count == 1)
  }

  @Test("neither key nor token gets into any text")
  func secrecy() async throws {
    let transport = PlayFixture.transport { request throws(HTTPTransportError) in
      // A server that sends back what it was sent.
      let sent = request.headers.map(\.value).joined(separator: " ")
      return .json(#"{"error":{"message":"\#(sent)","status":"X"}}"#, status: 400)
    }
    let client = try PlayFixture.client(transport)
    let error = await playError { () async throws(GooglePlayError) in try await client.send(.product("t")) }
    var texts = ["\(client)", "\(try PlayFixture.account())"]
    for value in [client, try PlayFixture.account(), error as Any] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      texts += [dumped, String(reflecting: value)]
    }
    for text in texts {
      #expect(!text.contains("PRIVATE KEY"))
      #expect(!text.contains("MII"))
    }
    #expect(
      client.description
        == "GooglePlayClient(https://androidpublisher.googleapis.com/, com.example.app, "
        + "ServiceAccount(play@example.iam.gserviceaccount.com, key 0123456789abcdef))")
  }
}
