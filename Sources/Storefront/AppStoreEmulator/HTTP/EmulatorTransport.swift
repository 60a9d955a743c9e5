// SPDX-License-Identifier: Apache-2.0

public import AppStoreServer

/// A transport to an emulated App Store in the same process, without sockets.
///
/// ```swift
/// let store = try EmulatedAppStore(signing: try EmulatorSigning())
/// let client = AppStoreServerClient(
///   transport: EmulatorTransport(sandbox: store), signer: signer, address: .sandbox, verifier: verifier)
/// ```
///
/// The store's faults apply. A fault of the connection becomes the error that a client on the network would see.
public struct EmulatorTransport: HTTPTransport {
  private let production: EmulatedAppStore?
  private let sandbox: EmulatedAppStore?

  /// Creates a transport. Requests to hosts with `sandbox` in their names go to the sandbox store, all others to the
  /// production store. If that store is missing, the connection is refused.
  public init(production: EmulatedAppStore? = nil, sandbox: EmulatedAppStore? = nil) {
    self.production = production
    self.sandbox = sandbox
  }

  /// Sends a request to the store.
  ///
  /// - Throws: `HTTPTransportError` as a transport over the network does.
  public func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    guard !Task.isCancelled else { throw HTTPTransportError(.cancelled, "The task was cancelled.") }
    guard let store = request.url.host.contains("sandbox") ? sandbox : production else {
      throw HTTPTransportError(.cannotConnect, "There is no store at \(request.url.host).")
    }
    let (response, fault) = await store.faultyResponse(to: EmulatorRequest(request), store.respond(to:))
    var body = response.body
    switch fault {
    case .delay(let milliseconds): try await wait(.milliseconds(milliseconds), within: request.timeout)
    case .neverAnswer: try await wait(.seconds(1 << 30), within: request.timeout)
    case .contentLength(let off) where off <= 0: body = Array(body.prefix(max(0, body.count &+ off)))
    case .cut, .reset, .contentLength:
      throw HTTPTransportError(.connectionLost, "The connection ended before the response.")
    case .brokenChunks, .notHTTP, .endlessHead:
      throw HTTPTransportError(.invalidResponse, "What came is not HTTP.")
    case .endlessBody: throw HTTPTransportError(.tooLarge, "The response does not end.")
    default: break
    }
    guard body.count <= request.maximumResponseByteCount else {
      throw HTTPTransportError(
        .tooLarge, "The response has more than \(request.maximumResponseByteCount) bytes.")
    }
    return RemoteResponse(status: response.status, headers: response.headers, body: body)
  }

  private func wait(_ time: Duration, within timeout: Duration) async throws(HTTPTransportError) {
    do {
      try await Task.sleep(for: min(time, timeout), clock: .continuous)
    } catch {
      throw HTTPTransportError(.cancelled, "The task was cancelled.")
    }
    guard time < timeout else { throw HTTPTransportError(.timedOut, "No response within \(timeout).") }
  }
}
