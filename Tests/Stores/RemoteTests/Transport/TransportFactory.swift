// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptHTTP
import ReceiptHTTPAsyncHTTPClient
import ReceiptHTTPCurl
import Testing

/// A kind of transport that the conformance suite runs on.
struct TransportFactory: Sendable, CustomTestStringConvertible {
  let name: String
  /// `true` if it can be given an authority to trust. One that trusts the system's alone cannot talk TLS with the
  /// emulator.
  let takesAuthorities: Bool
  /// The codes with which it reports a server without a trusted certificate.
  let codesOfInsecurity: Set<HTTPTransportError.Code>
  /// Makes one that trusts this authority, in PEM, besides the system's; `nil` for the system's alone.
  let make: @Sendable (_ tlsAuthority: String?) throws -> Made

  /// A transport and how it is shut down.
  struct Made: Sendable {
    let transport: any HTTPTransport
    let shutdown: @Sendable () async throws -> Void
  }

  var testDescription: String { name }

  static var all: [TransportFactory] {
    var all = [
      TransportFactory(name: "libcurl", takesAuthorities: true, codesOfInsecurity: [.insecure]) { authority in
        let file = try authority.map { pem in
          let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "ca-\(UUID().uuidString).pem")
          try Data(pem.utf8).write(to: file)
          return file
        }
        let transport = CurlTransport(certificateAuthorities: file?.path)
        return Made(
          transport: transport,
          shutdown: {
            transport.shutdown()
            if let file { try FileManager.default.removeItem(at: file) }
          })
      }
    ]
    #if SwiftNIO
      all.append(
        TransportFactory(
          name: "AsyncHTTPClient", takesAuthorities: true, codesOfInsecurity: [.insecure]
        ) { authority in
          let transport = try AsyncHTTPClientTransport(
            .init(additionalTrustRoots: authority.map { [$0] } ?? [], connectTimeout: .seconds(15)))
          return Made(transport: transport, shutdown: { try await transport.shutdown() })
        })
    #endif
    return all
  }

  /// The ports that it can talk to.
  var trustedPorts: [EmulatorProcess.Port] { takesAuthorities ? [.sandbox, .tls] : [.sandbox] }

  /// Runs the body with a transport that trusts the emulator's authority.
  func with<Value: Sendable>(
    _ emulator: EmulatorProcess, trusting: Bool = true,
    _ body: (any HTTPTransport) async throws -> Value
  ) async throws -> Value {
    let pem = String(decoding: try emulator.contents(of: "tlsAuthority"), as: UTF8.self)
    let made = try make(trusting ? pem : nil)
    let result: Result<Value, any Error>
    do { result = .success(try await body(made.transport)) } catch { result = .failure(error) }
    try await made.shutdown()
    return try result.get()
  }
}
