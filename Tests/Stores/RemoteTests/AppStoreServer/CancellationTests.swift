// SPDX-License-Identifier: Apache-2.0

@testable import AppStoreServer
import Testing

/// Cancelling a task ends its call, wherever it stands.
@Suite struct CancellationTests {
  private func cancelled(
    _ client: RawAppStoreServerClient, when ready: AsyncStream<Void>
  ) async -> AppStoreServerError? {
    let task = Task {
      await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1")) }
    }
    for await _ in ready { break }
    task.cancel()
    return await task.value
  }

  @Test("while waiting for the answer")
  func whileSending() async throws {
    let (ready, continuation) = AsyncStream<Void>.makeStream()
    let transport = FakeTransport { _ throws(HTTPTransportError) in
      continuation.yield()
      do {
        try await Task.sleep(for: .seconds(3600))
        throw HTTPTransportError(.timedOut, "not cancelled")
      } catch {
        throw HTTPTransportError(.cancelled, "cancelled")
      }
    }
    let error = await cancelled(try StoreServer.raw(transport), when: ready)
    #expect(error?.cause == .cancelled)
    #expect(error?.attempts == 1)
    #expect(error?.isRetryable == false)
  }

  @Test("while waiting for the next attempt")
  func whileWaiting() async throws {
    let (ready, continuation) = AsyncStream<Void>.makeStream()
    var time = ManualTime(StoreServer.now).remoteTime
    time.sleep = { _ in
      continuation.yield()
      try await Task.sleep(for: .seconds(3600))
    }
    let transport = FakeTransport(RemoteResponse(status: 503))
    let client = RawAppStoreServerClient(
      transport: transport, signer: try StoreServer.signer(), address: .sandbox, time: time)
    let error = await cancelled(client, when: ready)
    #expect(error?.cause == .cancelled)
    #expect(error?.attempts == 1)
    #expect(transport.requests.count == 1)
  }

  @Test("before the call: nothing is sent")
  func beforehand() async throws {
    let transport = FakeTransport(.json(""))
    let client = try StoreServer.raw(transport)
    let error = await Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await storeError { () async throws(AppStoreServerError) in try await client.send(.finish("1")) }
    }.value
    #expect(error?.cause == .cancelled)
    #expect(error?.attempts == 0)
    #expect(transport.requests.isEmpty)
  }
}
