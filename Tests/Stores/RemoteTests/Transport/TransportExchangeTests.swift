// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptHTTP
import Testing

/// The behaviour of every transport when nothing goes wrong.
@Suite(.enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
struct TransportExchangeTests {
  @Test(
    "answers come whole, over plain HTTP and TLS, to names and addresses", arguments: TransportFactory.all)
  func answers(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      for port in factory.trustedPorts {
        for host in ["localhost", "127.0.0.1"] {
          let url = try RemoteURL(emulator.url(port, "/inApps/v1/transactions/2000000001", host: host))
          let response = try await transport.send(RemoteRequest(.get, url))
          #expect(response.status == 200)
          #expect(response.header("content-type") == "application/json")
          let jws = try #require(try JSONValue(parsing: response.body)["signedTransactionInfo"]?.string)
          #expect(try UnverifiedJWS(parsing: Array(jws.utf8)).decoded().content.kind == .signedTransaction)
        }
      }
    }
  }

  @Test(
    "each method carries its body and headers", arguments: TransportFactory.all, RemoteRequest.Method.allCases
  )
  func methods(factory: TransportFactory, method: RemoteRequest.Method) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let bodies: [[UInt8]?] =
        method == .get ? [nil] : [nil, [], [0, 255, 10, 13], [UInt8](repeating: 7, count: 300_000)]
      for body in bodies {
        let url = try RemoteURL(emulator.url(.sandbox, "/_emulator/echo/")).appending(
          pathSegments: [], queryItems: [("a", "b c+d/ä"), ("a", "")])
        let response = try await transport.send(
          RemoteRequest(
            method, url, headers: [HTTPHeader("Authorization", "Bearer a.b.c"), HTTPHeader("X-Test", "é?")],
            body: body))
        let echo = try JSONValue(parsing: response.body)
        #expect(echo["method"]?.string == method.rawValue)
        #expect(echo["body"]?.string == Base64.encodeToString(body ?? []))
        #expect(echo["query"]?.array?.map { $0["value"]?.string } == ["b c+d/ä", ""])
        let headers = echo["headers"]?.object ?? []
        #expect(headers.first { $0.name.lowercased() == "authorization" }?.value.string == "Bearer a.b.c")
      }
    }
  }

  @Test("a body at the limit is read, one byte more is refused", arguments: TransportFactory.all)
  func limit(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let url = try RemoteURL(emulator.url(.sandbox, "/_emulator/bytes/3000000"))
      let whole = try await transport.send(RemoteRequest(.get, url, maximumResponseByteCount: 3_000_000))
      #expect(whole.body.count == 3_000_000)
      let error = try await failure(
        of: RemoteRequest(.get, url, maximumResponseByteCount: 2_999_999), by: transport)
      #expect(error.code == .tooLarge)
      let empty = try RemoteURL(emulator.url(.sandbox, "/_emulator/bytes/0"))
      #expect(try await transport.send(RemoteRequest(.get, empty, maximumResponseByteCount: 0)).body == [])
    }
  }

  @Test("a connection is reused", arguments: TransportFactory.all)
  func reuse(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess(["--no-token-checks"])
    defer { emulator.stop() }
    try await factory.with(emulator) { transport in
      for _ in 0..<20 { try await emulator.control(.get, "/_emulator/statistics", by: transport) }
      let connections = try await emulator.control(.get, "/_emulator/statistics", by: transport)[
        "connections"]
      #expect(try #require(connections?.int64) <= 3)
    }
  }

  @Test("a redirect is returned and not followed", arguments: TransportFactory.all)
  func redirects(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      for kind in ["other-host", "same-host", "loop"] {
        let target = try await emulator.target(#"{"kind": "redirect", "target": "\#(kind)"}"#, by: transport)
        let response = try await transport.send(
          RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, target))))
        #expect(response.status == 307)
        #expect(response.header("Location")?.isEmpty == false)
      }
    }
  }

  @Test("error responses have status and headers", arguments: TransportFactory.all)
  func refusals(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      for status in [400, 401, 403, 404, 429, 500, 502, 503, 504] {
        let target = try await emulator.target(
          #"{"kind": "status", "status": \#(status), "retryAfter": "seconds", "seconds": 7}"#, by: transport)
        let response = try await transport.send(
          RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, target))))
        #expect(response.status == status)
        #expect(response.header("retry-after") == "7")
        #expect(response.body == Array("Out of order.\n".utf8))
      }
    }
  }

  @Test(
    "a transport that was shut down throws",
    arguments: TransportFactory.all)
  func shutDown(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    let made = try factory.make(nil)
    try await made.shutdown()
    let url = try RemoteURL(emulator.url(.sandbox, "/"))
    #expect(try await failure(of: RemoteRequest(.get, url), by: made.transport).code == .unusable)
  }
}
