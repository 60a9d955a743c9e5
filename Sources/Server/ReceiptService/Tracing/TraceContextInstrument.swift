// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import Hummingbird
  package import Instrumentation
  package import Logging
  package import ReceiptHTTP

  package struct TraceContextInstrument: Instrument {
    package init() {}

    package func extract<Carrier, Extract>(
      _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {
      guard let parent = extractor.extract(key: TraceContext.parentField, from: carrier) else { return }
      context.trace = TraceContext(
        parent: parent, state: extractor.extract(key: TraceContext.stateField, from: carrier))
    }

    package func inject<Carrier, Inject>(
      _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {
      guard let trace = context.trace else { return }
      injector.inject(trace.parent, forKey: TraceContext.parentField, into: &carrier)
      if let state = trace.state { injector.inject(state, forKey: TraceContext.stateField, into: &carrier) }
    }

    /// Adds the identifiers of the trace to the metadata of each log message.
    package static let metadataProvider = Logger.MetadataProvider {
      guard let trace = InstrumentationContext.current?.trace else { return [:] }
      return ["trace-id": .string(trace.traceID), "span-id": .string(trace.spanID)]
    }
  }

  /// Runs the handling of a request within the trace in its header fields, which costs one look-up without a trace.
  package struct TraceMiddleware<Context: RequestContext>: RouterMiddleware {
    package init() {}

    package func handle(
      _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
      guard TraceContext.isNamed(in: request.headers) else {
        return try await next(request, context)
      }
      var traced = InstrumentationContext.current ?? .topLevel
      InstrumentationSystem.instrument.extract(request.headers, into: &traced, using: FieldsExtractor())
      return try await InstrumentationContext.withValue(traced) { try await next(request, context) }
    }
  }

  /// Reads header fields.
  ///
  /// The values of `tracestate`, which is a list, are joined. Any other field is read only if it occurs once.
  struct FieldsExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? {
      guard let name = HTTPField.Name(key) else { return nil }
      let values = fields[values: name]
      guard values.count == 1 || key == TraceContext.stateField, !values.isEmpty else { return nil }
      return values.joined(separator: ",")
    }
  }

  extension TraceContext {
    private static let parentName = HTTPField.Name(parentField)

    /// Returns `true` if the header has a `traceparent` field.
    static func isNamed(in fields: HTTPFields) -> Bool { parentName.map { fields.contains($0) } ?? false }
  }

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
