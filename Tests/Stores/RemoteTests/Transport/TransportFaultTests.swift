// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Testing

/// The errors of every transport when something goes wrong, and the time that they take.
@Suite(.enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
struct TransportFaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let json: String
    let codes: Set<HTTPTransportError.Code>

    init(_ json: String, _ codes: HTTPTransportError.Code...) {
      self.json = json
      self.codes = Set(codes)
    }

    var testDescription: String { json }

  }

  /// Several codes are right if clients may name the fault differently. None of these codes promises that nothing was
  /// sent.
  static let faults = [
    Fault(#"{"kind": "never-answer"}"#, .timedOut),
    Fault(#"{"kind": "delay", "milliseconds": 20000}"#, .timedOut),
    Fault(#"{"kind": "cut", "afterBytes": 0}"#, .connectionLost, .invalidResponse),
    Fault(#"{"kind": "cut", "afterBytes": 5}"#, .connectionLost, .invalidResponse),
    Fault(#"{"kind": "cut", "afterBytes": 17}"#, .connectionLost, .invalidResponse),
    Fault(#"{"kind": "cut", "afterBytes": 40}"#, .connectionLost, .invalidResponse),
    Fault(#"{"kind": "cut", "afterBytes": 600}"#, .connectionLost),
    Fault(#"{"kind": "reset", "afterBytes": 0}"#, .connectionLost),
    Fault(#"{"kind": "reset", "afterBytes": 40}"#, .connectionLost),
    Fault(#"{"kind": "reset", "afterBytes": 600}"#, .connectionLost),
    Fault(#"{"kind": "content-length", "off": 10}"#, .connectionLost),
    Fault(#"{"kind": "broken-chunks"}"#, .invalidResponse, .connectionLost),
    Fault(#"{"kind": "not-http"}"#, .invalidResponse),
    Fault(#"{"kind": "endless-body"}"#, .tooLarge),
    Fault(#"{"kind": "endless-head"}"#, .tooLarge, .invalidResponse, .connectionLost),
  ]

  @Test("each fault has its code, in time", arguments: TransportFactory.all, faults)
  func fault(factory: TransportFactory, fault: Fault) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      for port in factory.trustedPorts {
        let target = try await emulator.target(fault.json, by: transport, port: port)
        let url = try RemoteURL(emulator.url(port, target))
        let isSlow = fault.codes == [.timedOut]
        let clock = ContinuousClock()
        let start = clock.now
        let error = try await failure(
          of: RemoteRequest(
            .get, url, timeout: isSlow ? .milliseconds(300) : .seconds(20), maximumResponseByteCount: 100_000),
          by: transport)
        #expect(fault.codes.contains(error.code), "\(error)")
        #expect(!error.wasNotSent)
        #expect(clock.now - start < .seconds(15))
      }
    }
  }

  @Test("an answer that is late and in time is an answer", arguments: TransportFactory.all)
  func late(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let target = try await emulator.target(#"{"kind": "delay", "milliseconds": 200}"#, by: transport)
      let response = try await transport.send(
        RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, target))))
      #expect(response.status == 200)
    }
  }

  @Test("bytes beyond Content-Length do not come into the next answer", arguments: TransportFactory.all)
  func tooManyBytes(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let target = try await emulator.target(#"{"kind": "content-length", "off": -100}"#, by: transport)
      let url = try RemoteURL(emulator.url(.sandbox, target))
      // The client may take what was announced, or refuse the whole.
      if let response = try? await transport.send(RemoteRequest(.get, url)) {
        #expect(throws: MalformedReceipt.self) { try JSONValue(parsing: response.body) }
      }
      let right = try RemoteURL(emulator.url(.sandbox, "/inApps/v1/transactions/2000000001"))
      for _ in 0..<5 {
        // A connection that the server closes meanwhile may be lost, but never gives a wrong answer.
        guard let response = try? await transport.send(RemoteRequest(.get, right)) else { continue }
        #expect(try JSONValue(parsing: response.body)["signedTransactionInfo"]?.string != nil)
      }
    }
  }

  @Test("a refused connection: nothing was sent", arguments: TransportFactory.all)
  func refusedConnection(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess(["--no-token-checks"])
    let urls = try ["", "127.0.0.1"].map {
      try RemoteURL(emulator.url(.sandbox, "/", host: $0.isEmpty ? "localhost" : $0))
    }
    try await factory.with(emulator) { transport in
      emulator.stop()
      for url in urls {
        let error = try await failure(of: RemoteRequest(.get, url), by: transport)
        #expect(error.code == .cannotConnect, "\(error)")
      }
      let unknown = try RemoteURL("https://no-such-host.invalid/")
      let error = try await failure(of: RemoteRequest(.get, unknown, timeout: .seconds(10)), by: transport)
      #expect([.cannotConnect, .timedOut].contains(error.code), "\(error)")
    }
  }

  @Test(
    "nothing is sent to a server without a trusted certificate", arguments: TransportFactory.all,
    [EmulatorProcess.Port.untrustedTLS, .wrongHostTLS, .expiredTLS])
  func untrusted(factory: TransportFactory, port: EmulatorProcess.Port) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      for host in ["localhost", "127.0.0.1"] {
        let url = try RemoteURL(emulator.url(port, "/inApps/v1/transactions/2000000001", host: host))
        let error = try await failure(of: RemoteRequest(.get, url), by: transport)
        #expect(factory.codesOfInsecurity.contains(error.code), "\(error)")
      }
    }
  }

  @Test("the authority of tests is not trusted unless it is given", arguments: TransportFactory.all)
  func systemRoots(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator, trusting: false) { transport in
      let url = try RemoteURL(emulator.url(.tls, "/"))
      let error = try await failure(of: RemoteRequest(.get, url), by: transport)
      #expect(factory.codesOfInsecurity.contains(error.code), "\(error)")
    }
  }

  @Test("TLS with a server that has none is refused", arguments: TransportFactory.all)
  func plainServer(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let plain = emulator.url(.sandbox, "/")
      let url = try RemoteURL("https" + plain.dropFirst("http".count))
      let error = try await failure(of: RemoteRequest(.get, url), by: transport)
      #expect(factory.codesOfInsecurity.contains(error.code), "\(error)")
    }
  }
}
