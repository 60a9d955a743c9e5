// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import ReceiptSigning
import Testing

/// One token for everybody, until shortly before it expires.
@Suite struct TokenTests {
  @Test("a token is used again until a minute before it expires")
  func reuse() async throws {
    let time = ManualTime(StoreServer.now)
    let tokens = AppStoreServerTokens(signer: try StoreServer.signer(), time: time.remoteTime)
    let first = try await tokens.token()
    time.advance(by: .seconds(239))
    #expect(try await tokens.token() == first)
    time.advance(by: .seconds(1))
    let second = try await tokens.token()
    #expect(second != first)
    #expect(
      try claims(second.text)["iat"]?.int64 == Int64(StoreServer.now.millisecondsSince1970 / 1000) + 240)
    #expect(
      try claims(second.text)["exp"]?.int64 == Int64(StoreServer.now.millisecondsSince1970 / 1000) + 540)
    #expect(try claims(second.text)["aud"]?.string == "appstoreconnect-v1")
    #expect(try claims(second.text)["bid"]?.string == "com.example.app")
  }

  @Test("a clock that is set back gets a new token")
  func clockSetBack() async throws {
    let time = ManualTime(StoreServer.now)
    let tokens = AppStoreServerTokens(signer: try StoreServer.signer(), time: time.remoteTime)
    let first = try await tokens.token()
    time.advance(by: .seconds(-3600))
    #expect(try await tokens.token() != first)
  }

  @Test("a token that was refused is no longer used by any client")
  func refused() async throws {
    let transport = FakeTransport([
      .success(RemoteResponse(status: 401)), .success(.json("")), .success(.json("")),
    ])
    let client = try StoreServer.raw(transport)
    _ = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1")) }
    try await client.send(.finish("1"))
    try await client.calling(.production).send(.finish("1"))
    let sent = transport.requests.map { $0.headers.first { $0.name == "Authorization" }?.value }
    #expect(sent.count == 3)
    #expect(sent[0] != sent[1])
    #expect(sent[1] == sent[2])
  }

  @Test("a late refusal of an old token leaves the newer one in use")
  func lateRefusal() async throws {
    let time = ManualTime(StoreServer.now)
    let tokens = AppStoreServerTokens(signer: try StoreServer.signer(), time: time.remoteTime)
    let old = try await tokens.token()
    time.advance(by: .seconds(250))
    let new = try await tokens.token()
    #expect(new != old)
    tokens.forget(old)
    #expect(try await tokens.token() == new)
    tokens.forget(new)
    #expect(try await tokens.token() != new)
  }

  @Test("a retry after the token's expiry signs a new one")
  func renewedBetweenTries() async throws {
    let time = ManualTime(StoreServer.now, random: 0)
    let transport = FakeTransport([
      .success(.json("", status: 429, headers: [HTTPHeader("Retry-After", "300")])), .success(.json("")),
    ])
    try await StoreServer.raw(
      transport, time: time, retry: RetryPolicy(deadline: .seconds(600))
    ).send(.finish("1"))
    let sent = transport.requests.map { $0.headers.first { $0.name == "Authorization" }?.value }
    #expect(sent.count == 2 && sent[0] != sent[1])
  }

  @Test("a thousand calls at once sign one token")
  func concurrency() async throws {
    let transport = FakeTransport(.json(""))
    let client = try StoreServer.raw(transport)
    await withTaskGroup(of: AppStoreServerError?.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1")) }
        }
      }
      for await error in group { #expect(error == nil) }
    }
    let sent = transport.requests.map { $0.headers.first { $0.name == "Authorization" }?.value }
    #expect(sent.count == 1000)
    // ECDSA signs with a random number each time: equal tokens are one token.
    #expect(Set(sent).count == 1)
  }

  @Test("a clock out of range is a signing error, and nothing is sent")
  func clockOutOfRange() async throws {
    let time = ManualTime(Timestamp(millisecondsSince1970: 1e300))
    let transport = FakeTransport(.json(""))
    let client = try StoreServer.raw(transport, time: time)
    let error = await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1"))
    }
    guard case .signing(let cause) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .invalidValue)
    #expect(error?.attempts == 0)
    #expect(transport.requests.isEmpty)
  }

  private func claims(_ token: String) throws -> JSONValue {
    try JSONValue(parsing: UnverifiedJWS(parsing: Array(token.utf8)).payload)
  }
}
