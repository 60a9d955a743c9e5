// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Testing

extension EmulatorProcess {
  /// Returns a path that no other test asks for. The next `requests` requests for it go wrong, or all of them if it is
  /// `nil`. The right answer would be the sample transaction.
  func target(
    _ fault: String, requests: Int? = nil, by transport: any HTTPTransport, port: Port = .sandbox
  ) async throws -> String {
    let target = "/inApps/v1/transactions/2000000001"
    let unique = "\(target)?test=\(UUID().uuidString)"
    let count = requests.map { ", \"requests\": \($0)" } ?? ""
    let rules = "[{\"faults\": [\(fault)], \"target\": \"\(unique)\"\(count)}]"
    _ = try await control(.post, "/_emulator/faults?append=true", rules, by: transport, port: port)
    return unique
  }

  @discardableResult
  func control(
    _ method: RemoteRequest.Method, _ target: String, _ body: String? = nil, by transport: any HTTPTransport,
    port: Port = .sandbox
  ) async throws -> JSONValue {
    let request = RemoteRequest(method, try RemoteURL(url(port, target)), body: body.map { Array($0.utf8) })
    let response = try await transport.send(request)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try JSONValue(parsing: response.body)
  }

  func openConnections(by transport: any HTTPTransport) async throws -> Int64 {
    try #require(try await control(.get, "/_emulator/statistics", by: transport)["openConnections"]?.int64)
  }
}

/// Sends a request that must fail, and gives the error.
func failure(
  of request: RemoteRequest, by transport: any HTTPTransport,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> HTTPTransportError {
  do throws(HTTPTransportError) {
    let response = try await transport.send(request)
    Issue.record(
      "It succeeded with \(response.status), \(response.body.count) bytes", sourceLocation: sourceLocation)
  } catch {
    return error
  }
  throw EmulatorProcess.Failure(reason: "The request succeeded.")
}
