// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Instrumentation
  package import ReceiptHTTP

  /// The headers that propagate the trace of the current task, as the instrument of the process writes them.
  enum TraceHeaders {
    static var current: [HTTPHeader] {
      guard let context = InstrumentationContext.current else { return [] }
      var headers: [HTTPHeader] = []
      InstrumentationSystem.instrument.inject(context, into: &headers, using: HeaderInjector())
      return headers
    }

    /// The headers in the form that is stored with a change for its webhooks, one a line; `nil` if there are no
    /// headers.
    static var stored: String? {
      let lines = current.filter { !$0.value.contains(where: \.isNewline) }.map { "\($0.name): \($0.value)" }
      return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// Parses stored headers.
    static func headers(stored text: String?) -> [HTTPHeader] {
      (text ?? "").split(separator: "\n").compactMap { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return HTTPHeader(String(parts[0]), String(parts[1].dropFirst()))
      }
    }

    private struct HeaderInjector: Injector {
      func inject(_ value: String, forKey key: String, into headers: inout [HTTPHeader]) {
        headers.append(HTTPHeader(key, value))
      }
    }
  }

  /// A transport whose requests belong to the trace of the sending task.
  package struct TracedTransport: HTTPTransport {
    private let transport: any HTTPTransport

    package init(_ transport: any HTTPTransport) { self.transport = transport }

    package func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      var request = request
      request.headers += TraceHeaders.current
      return try await transport.send(request)
    }
  }
#endif
