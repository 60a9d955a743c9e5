// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AsyncHTTPClient
  import ReceiptHTTP
  import ReceiptHTTPAsyncHTTPClient
  import Testing

  /// The parts specific to the transport with AsyncHTTPClient.
  @Suite struct AsyncHTTPClientTransportTests {
    @Test(
      "trust roots that are no certificates are refused at once",
      arguments: ["", "-----BEGIN CERTIFICATE-----"])
    func trustRoots(pem: String) throws {
      let error = #expect(throws: HTTPTransportError.self) {
        _ = try AsyncHTTPClientTransport(.init(additionalTrustRoots: [pem]))
      }
      #expect(error?.code == .unusable)
    }

    @Test(
      "a header that would break out of its line is not sent",
      arguments: [
        HTTPHeader("X-A", "1\r\nX-B: 2"), HTTPHeader("X A", "1"), HTTPHeader("", "1"),
        HTTPHeader("X-A", "\u{0}"),
      ])
    func headers(header: HTTPHeader) async throws {
      let transport = try AsyncHTTPClientTransport()
      let request = RemoteRequest(.get, try RemoteURL("http://127.0.0.1:1/"), headers: [header])
      #expect(try await failure(of: request, by: transport).code == .unusable)
      try await transport.shutdown()
    }

    @Test(
      "a client of the caller's is used, and left open",
      .enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
    func wrapped() async throws {
      let emulator = try EmulatorProcess.shared.get()
      let url = try RemoteURL(emulator.url(.sandbox, "/_emulator/bytes/10"))
      let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
      for _ in 0..<2 {
        let transport = AsyncHTTPClientTransport(wrapping: client)
        #expect(try await transport.send(RemoteRequest(.get, url)).body.count == 10)
        try await transport.shutdown()
      }
      try await client.shutdown()
      let ended = AsyncHTTPClientTransport(wrapping: client)
      #expect(try await failure(of: RemoteRequest(.get, url), by: ended).code == .unusable)
    }

    @Test(
      "a client that follows redirects is found out",
      .enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
    func followingClient() async throws {
      let emulator = try EmulatorProcess.shared.get()
      let client = HTTPClient(eventLoopGroupProvider: .singleton)
      let transport = AsyncHTTPClientTransport(wrapping: client)
      let target = try await emulator.target(
        #"{"kind": "redirect", "target": "same-host"}"#, requests: 1, by: transport)
      let request = RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, target)))
      #expect(try await failure(of: request, by: transport).code == .invalidResponse)
      try await client.shutdown()
    }
  }
#endif
