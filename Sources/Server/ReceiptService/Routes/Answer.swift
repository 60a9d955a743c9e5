// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import Hummingbird
  package import ReceiptCodec

  /// Completes responses: security headers, problem details for errors, and metrics.
  ///
  /// It is the middleware of the routes and the console. The handler that answers before the router uses its parts.
  struct Answer: RouterMiddleware {
    let endpoints: [Endpoint]
    let shutdown: ShutdownState
    let recentRequests: RecentRequests

    func handle(
      _ request: Request, context: ServiceContext,
      next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
      var response: Response
      let start = ContinuousClock.now
      do {
        response = try await next(request, context)
      } catch {
        let allowed = (error as? HTTPError)?.status == .notFound ? methods(of: request.uri.path) : []
        if allowed.isEmpty {
          response = Problem(for: error, context.logger).response
        } else {
          let allow = allowed.sorted().joined(separator: ", ")
          response =
            Problem(.methodNotAllowed, "method-not-allowed", "This path takes \(allow).").response
          response.headers[.allow] = allow
        }
      }
      addCommonFields(to: &response.headers)
      count(context.endpointPath ?? "none", request.method, response.status, since: start)
      return response
    }

    func addCommonFields(to fields: inout HTTPFields) {
      fields[.xContentTypeOptions] = "nosniff"
      if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
      // Close the connection: a client that reused it would find it closed.
      if shutdown.hasBegun { fields[.connection] = "close" }
    }

    func count(
      _ operation: String, _ method: HTTPRequest.Method, _ status: HTTPResponse.Status,
      since start: ContinuousClock.Instant
    ) {
      let end = ContinuousClock.now
      RequestMetrics.record(operation: operation, method: method, status: status, duration: end - start)
      recentRequests.record(duration: end - start, isFault: status.code >= 500, at: end)
    }

    /// The methods that a path accepts; empty if the path does not exist.
    private func methods(of path: String) -> Set<String> {
      Set(endpoints.lazy.filter { $0.matches(path) }.map(\.method.rawValue))
    }
  }

  /// A value that writes itself as a JSON object.
  package protocol JSONWritable: Sendable {
    func write(to json: inout JSONWriter)
  }

  /// An object of the API, which `scripts/wire-types` generates from the table of its members.
  package protocol APIMessage: JSONWritable, ResponseGenerator {
    /// The value of the member `type`; `nil` for a part of other objects.
    static var type: String? { get }
    func writeMembers(to json: inout JSONWriter)
  }

  extension APIMessage {
    package static var type: String? { nil }

    package func write(to json: inout JSONWriter) { write(to: &json, type: Self.type) }

    private func write(to json: inout JSONWriter, type: String?) {
      if let type { json.beginObject(type: type) } else { json.beginObject() }
      writeMembers(to: &json)
      json.endObject()
    }

    package func json(type: String? = Self.type) -> JSONWriter {
      var json = JSONWriter()
      write(to: &json, type: type)
      return json
    }

    package func response(from request: Request, context: some RequestContext) -> Response { .json(json()) }
  }

  extension JSONWriter: JSONWritable {
    package func write(to json: inout JSONWriter) { json.append(self) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func member(_ name: String, _ value: some JSONWritable) {
      self.name(name)
      value.write(to: &self)
    }

    mutating func member(_ name: String, _ values: [some JSONWritable]) {
      array(name, values) { $0.write(to: &$1) }
    }

    /// Writes the member unless the values are absent.
    mutating func member(_ name: String, _ values: [some JSONWritable]?) {
      if let values { member(name, values) }
    }

    mutating func member(_ name: String, _ words: [some RawRepresentable<String>]) {
      member(name, words.map(\.rawValue))
    }
  }
#endif
