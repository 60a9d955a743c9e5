// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Testing

/// No transport leaves anything behind.
@Suite(.enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
struct TransportResourceTests {
  @Test("cancelling ends the exchange at once and closes the connection", arguments: TransportFactory.all)
  func cancellation(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess(["--sample", "--no-token-checks"])
    defer { emulator.stop() }
    try await factory.with(emulator) { transport in
      let target = try await emulator.target(#"{"kind": "never-answer"}"#, by: transport)
      let request = RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, target)), timeout: .seconds(60))
      let calls = (0..<4).map { _ in Task { await result(of: request, by: transport) } }
      try await waitUntil { try await emulator.openConnections(by: transport) >= 4 }
      let clock = ContinuousClock()
      let start = clock.now
      for call in calls { call.cancel() }
      for call in calls {
        guard case .failure(let error) = await call.value else {
          Issue.record("A cancelled request was answered.")
          continue
        }
        #expect(error.code == .cancelled)
      }
      #expect(clock.now - start < .seconds(10))
      try await waitUntil { try await emulator.openConnections(by: transport) <= 2 }
    }
  }

  @Test("a task that is already cancelled sends nothing", arguments: TransportFactory.all)
  func cancelledBefore(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess.shared.get()
    try await factory.with(emulator) { transport in
      let request = RemoteRequest(.get, try RemoteURL(emulator.url(.sandbox, "/_emulator/statistics")))
      let call = Task {
        while !Task.isCancelled { await Task.yield() }
        return await result(of: request, by: transport)
      }
      call.cancel()
      guard case .failure(let error) = await call.value else {
        Issue.record("It was sent.")
        return
      }
      #expect(error.code == .cancelled)
    }
  }

  @Test("200 calls that fail leave no connection and no file descriptor", arguments: TransportFactory.all)
  func leaks(factory: TransportFactory) async throws {
    let emulator = try EmulatorProcess(["--sample", "--no-token-checks"])
    defer { emulator.stop() }
    let faults = TransportFaultTests.faults.map(\.json).joined(separator: ", ")
    let before = Self.openFiles()
    try await factory.with(emulator) { transport in
      try await emulator.control(.post, "/_emulator/faults", "[{\"faults\": [\(faults)]}]", by: transport)
      let url = try RemoteURL(emulator.url(.sandbox, "/inApps/v1/transactions/2000000001"))
      let request = RemoteRequest(
        .get, url, timeout: .milliseconds(400), maximumResponseByteCount: 100_000)
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<200 {
          if index >= 8 { await group.next() }
          group.addTask { _ = await result(of: request, by: transport) }
        }
      }
      try await waitUntil { try await emulator.openConnections(by: transport) <= 9 }
    }
    try await factory.with(emulator) { transport in
      // With the first transport shut down, only this one is connected.
      try await waitUntil { try await emulator.openConnections(by: transport) <= 1 }
    }
    // Other tests run meanwhile and open files too; 200 leaked sockets would still show.
    #expect(Self.openFiles() < before + 100)
  }

  private static func openFiles() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
  }
}

func result(
  of request: RemoteRequest, by transport: any HTTPTransport
) async -> Result<RemoteResponse, HTTPTransportError> {
  do throws(HTTPTransportError) { return .success(try await transport.send(request)) } catch {
    return .failure(error)
  }
}

/// Asks again until it is so; a test whose condition never comes fails after ten seconds.
func waitUntil(
  sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(10)
  while ContinuousClock.now < end {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record("It did not come about within ten seconds.", sourceLocation: sourceLocation)
}
