// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import ReceiptRemote
  import ReceiptRemoteAsyncHTTPClient
  import Testing

  /// What only this transport has.
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
  }
#endif
