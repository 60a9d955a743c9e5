// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
@testable import AppStoreServer
import ReceiptSigning
import Testing

/// The table of endpoints over each transport: the very bytes on the wire, and what each status becomes.
@Suite struct EndpointWireTests {
  private func client(_ server: RecordingServer, _ transport: any HTTPTransport) throws
    -> RawAppStoreServerClient
  {
    RawAppStoreServerClient(
      transport: transport, signer: try StoreServer.signer(),
      address: AppStoreServerAddress(.sandbox, at: try RemoteURL("http://127.0.0.1:\(server.port)")),
      retry: RetryPolicy(
        maximumAttempts: 2, firstDelay: .milliseconds(1), maximumDelay: .milliseconds(1),
        deadline: .seconds(30)))
  }

  @Test("every endpoint sends what it must", arguments: TransportFactory.all)
  func requests(factory: TransportFactory) async throws {
    let server = try RecordingServer()
    defer { server.close() }
    let made = try factory.make(nil)
    let client = try client(server, made.transport)
    for call in EndpointCall.all {
      _ = server.take(answering: 200, call.response)
      try await call.perform(client)
      let requests = server.take(answering: 200, "")
      let request = try #require(requests.first, "\(call)")
      #expect(requests.count == 1, "\(call)")
      #expect(request.line == "\(call.method.rawValue) \(call.target) HTTP/1.1")
      #expect(request.body == call.body ?? [], "\(call)")
      #expect(request.header("Content-Type") == call.contentType, "\(call)")
      #expect(request.header("Host") == "127.0.0.1:\(server.port)")
      #expect(request.header("Accept") == "application/json")
      #expect(request.header("Authorization")?.hasPrefix("Bearer ey") == true)
      #expect(request.header("User-Agent")?.hasPrefix("ReceiptKit/") == true)
    }
    try await made.shutdown()
  }

  @Test("every error code of the store arrives typed", arguments: TransportFactory.all)
  func errorCodes(factory: TransportFactory) async throws {
    let server = try RecordingServer()
    defer { server.close() }
    let made = try factory.make(nil)
    let client = try client(server, made.transport)
    for code in AppStoreServerErrorCode.documented + [.init(rawValue: 4_049_999)] {
      _ = server.take(
        answering: code.httpStatus, #"{"errorCode":\#(code.rawValue),"errorMessage":"Message."}"#)
      do throws(AppStoreServerError) {
        _ = try await client.send(.transaction("1"))
        Issue.record("\(code.rawValue)")
      } catch {
        #expect(error.code == code, "\(code.rawValue)")
        #expect(error.isRetryable == (code.isRetryable || code == .rateLimitExceeded), "\(code.rawValue)")
        let attempts = error.isRetryable ? 2 : 1
        #expect(server.take(answering: 200, "").count == attempts, "\(code.rawValue)")
      }
    }
    try await made.shutdown()
  }

  @Test("every status without a reason arrives typed", arguments: TransportFactory.all)
  func statuses(factory: TransportFactory) async throws {
    let server = try RecordingServer()
    defer { server.close() }
    let made = try factory.make(nil)
    let client = try client(server, made.transport)
    for status in Array(300...308) + Array(400...431) + Array(500...511) {
      // These two have no body by definition, which a server that sends one gets wrong.
      if status == 304 { continue }
      _ = server.take(answering: status, "<html>")
      do throws(AppStoreServerError) {
        _ = try await client.send(.transaction("1"))
        Issue.record("\(status)")
      } catch {
        switch error.cause {
        case .unauthorized: #expect(status == 401)
        case .rateLimited: #expect(status == 429)
        case .redirected(let found, _, _): #expect(found == status)
        case .unexpectedStatus(let found): #expect(found == status)
        default: Issue.record("\(status): \(error)")
        }
      }
    }
    try await made.shutdown()
  }
}
