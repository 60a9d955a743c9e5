// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptRemote
import ReceiptRemoteAsyncHTTPClient
import ReceiptRemoteURLSession
import Testing

/// A kind of transport that the conformance suite runs on.
struct TransportFactory: Sendable, CustomTestStringConvertible {
  let name: String
  /// Whether it can be given an authority to trust; one that trusts the system's alone cannot talk TLS with the
  /// emulator.
  let takesAuthorities: Bool
  /// What it says of a server that cannot prove who it is.
  let codesOfInsecurity: Set<HTTPTransportError.Code>
  /// Whether the process outlives a connection that ends within the headers. On Linux, Foundation's does not
  /// (NativeProtocol.swift: "Transfer completed, but there's no response"), whatever stands on it.
  let survivesEndsInHeaders: Bool
  /// Whether it answers, and does not end the process, when it is used after its end.
  let survivesUseAfterShutdown: Bool
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
      TransportFactory(
        name: "URLSession", takesAuthorities: false,
        // Foundation on Linux does not tell failures of TLS from others.
        codesOfInsecurity: [.insecure, .connectionLost], survivesEndsInHeaders: false,
        survivesUseAfterShutdown: false
      ) { _ in
        let transport = URLSessionTransport()
        return Made(transport: transport, shutdown: { transport.shutdown() })
      }
    ]
    #if SwiftNIO
      all.append(
        TransportFactory(
          name: "AsyncHTTPClient", takesAuthorities: true, codesOfInsecurity: [.insecure],
          survivesEndsInHeaders: true, survivesUseAfterShutdown: true
        ) { authority in
          let transport = try AsyncHTTPClientTransport(
            .init(additionalTrustRoots: authority.map { [$0] } ?? [], connectTimeout: .seconds(15)))
          return Made(transport: transport, shutdown: { try await transport.shutdown() })
        })
    #endif
    return all
  }

  /// Says loudly that a test was left out.
  func skip(_ what: String) {
    FileHandle.standardError.write(Data("SKIPPED: \(name) does not survive: \(what).\n".utf8))
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
