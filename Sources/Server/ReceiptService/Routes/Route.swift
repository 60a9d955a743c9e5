// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  public import Hummingbird
  internal import NIOCore

  extension Route {
    typealias OpenResponse = @Sendable (Request, ServiceContext) async throws -> any ResponseGenerator
    typealias KeyedResponse =
      @Sendable (AuthenticatedRequest, ServiceContext) async throws -> any ResponseGenerator

    /// The key that an operation requires, and the function of its controller that answers.
    enum Responder: Sendable {
      /// No key, because the content of the request authenticates itself, or the response reveals nothing.
      case open(OpenResponse)
      /// No key and no place among the served requests.
      ///
      /// A server that does not answer a probe is restarted, so a probe does not wait for a place.
      case probe(OpenResponse)
      case key(Scope, KeyedResponse)
      /// A key of a client protocol, whose controller identifies keys, admits requests and answers errors itself.
      case client(OpenResponse)
    }
  }

  /// Serves routes: admits requests, and identifies their keys.
  struct RouteServer: Sendable {
    let identity: Identity
    let admission: Admission

    func endpoints(of route: Route) -> [Endpoint] {
      Endpoint.all(route.method, route.path) { try await respond(to: $0, $1, by: route) }
    }

    private func respond(
      to request: Request, _ context: ServiceContext, by route: Route
    ) async throws -> Response {
      switch route.respond {
      case .key(let scope, let respond):
        let call = try await identity.authenticate(request, needing: scope)
        return try await admission.serve(in: admission.places, context) {
          try await respond(call, context).response(from: request, context: context)
        }
      case .probe(let respond), .client(let respond):
        return try await respond(request, context).response(from: request, context: context)
      case .open(let respond):
        let request = route.hasBody ? try await admission.arrived(request, context) : request
        return try await admission.serve(in: admission.openPlaces, context) {
          try await respond(request, context).response(from: request, context: context)
        }
      }
    }
  }

  /// A method of a path, as the router serves it.
  struct Endpoint: Sendable {
    typealias Respond = @Sendable (Request, ServiceContext) async throws -> Response

    let method: HTTPRequest.Method
    /// The path, with parameters in braces as in OpenAPI.
    let path: String
    let respond: Respond

    /// The endpoints of an operation: a GET also answers HEAD.
    static func all(
      _ method: HTTPRequest.Method, _ path: String, respond: @escaping Respond
    ) -> [Endpoint] {
      let endpoint = Endpoint(method: method, path: path, respond: respond)
      guard method == .get else { return [endpoint] }
      return [
        endpoint,
        Endpoint(method: .head, path: path) { try await respond($0, $1).createHeadResponse() },
      ]
    }

    /// The router's pattern for the path, in which `{file+}` is the rest.
    var pattern: RouterPath {
      RouterPath(path.hasSuffix("/{file+}") ? path.dropLast("{file+}".count) + "**" : path)
    }

    /// Returns `true` if the path of a request is one of this endpoint, which may have another method.
    func matches(_ path: String) -> Bool {
      let (pattern, segments) = (self.path.split(separator: "/"), path.split(separator: "/"))
      let isOpen = pattern.last == "{file+}"
      guard isOpen ? segments.count >= pattern.count : segments.count == pattern.count else { return false }
      return zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
  }

  /// The context in which a service handles a request.
  public struct ServiceContext: RequestContext {
    /// The storage that Hummingbird requires.
    public var coreContext: CoreRequestContextStorage
    /// The address of the peer, which may be a proxy, without its port.
    package let remoteAddress: String?
    let channel: any Channel

    /// Creates the context of a request.
    public init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
      remoteAddress = source.channel.remoteAddress?.ipAddress
    }
  }
#endif
