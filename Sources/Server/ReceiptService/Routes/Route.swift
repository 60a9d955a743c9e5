// SPDX-License-Identifier: Apache-2.0

#if Server
  package import HTTPTypes
  internal import Hummingbird

  /// An operation of the API.
  ///
  /// One table of routes defines the router and the OpenAPI description.
  package struct Route: Sendable {
    /// The key that an operation requires, and the function of its controller that answers.
    enum Responder: Sendable {
      /// No key, because the content of the request authenticates itself, or the response reveals nothing.
      case open(Endpoint.Respond)
      /// No key and no place among the served requests.
      ///
      /// A server that does not answer a probe is restarted, so a probe does not wait for a place.
      case probe(Endpoint.Respond)
      /// A key with this scope.
      case key(Scope, @Sendable (AuthenticatedRequest, ServiceContext) async throws -> Response)
    }

    /// A parameter in the path or the query.
    package struct Parameter: Sendable {
      package enum Place: String, Sendable { case path, query }
      package enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int64>)
      }

      let name: String
      let place: Place
      var kind = Kind.text
      let meaning: String

      static func query(_ name: String, _ kind: Kind = .text, _ meaning: String) -> Parameter {
        Parameter(name: name, place: .query, kind: kind, meaning: meaning)
      }
      static func path(_ name: String, _ kind: Kind = .text, _ meaning: String) -> Parameter {
        Parameter(name: name, place: .path, kind: kind, meaning: meaning)
      }

      static let app = query("app", .text, "The app, by its name, for keys that are not confined to one.")
      static let policy = query(
        "policy", .text, "The policy, by its name in the configuration; \"default\" without.")
      static let since = query(
        "since", .integer(0...Int64.max), "The sequence after which changes are told; 0 without.")
      static let limit = query(
        "limit", .integer(1...1000), "How many at most: 1 to 1000; 100 without.")
    }

    /// The content of a request or a response: its media type, and the name of its schema in the description.
    package struct Content: Sendable {
      let mediaType: String
      let schema: String

      static func json(_ schema: String) -> [Content] {
        [Content(mediaType: "application/json", schema: schema)]
      }

      static let problem = [Content(mediaType: "application/problem+json", schema: "Problem")]
    }

    /// A status of the response, its meaning, and the content.
    typealias Answer = (status: Int, meaning: String, content: [Content])

    /// The answer to a body that is not the unencoded receipt; see ``ReceiptContent``.
    static let unsupported: Answer = (415, "The body is compressed, or a form.", Content.problem)

    package let method: HTTPRequest.Method
    /// The path, with parameters in braces as in OpenAPI.
    package let path: String
    /// The operation's identifier in the description.
    package let operation: String
    let summary: String
    var parameters: [Parameter] = []
    var body: [Content] = []
    /// The responses, success first.
    var answers: [Answer]
    let respond: Responder
  }

  /// Serves routes: admits requests, and identifies their keys.
  struct RouteServer: Sendable {
    let identity: Identity
    let admission: Admission

    /// The endpoints of a route.
    func endpoints(of route: Route) -> [Endpoint] {
      Endpoint.all(route.method, route.path) { try await respond(to: $0, $1, by: route) }
    }

    private func respond(
      to request: Request, _ context: ServiceContext, by route: Route
    ) async throws -> Response {
      switch route.respond {
      case .key(let scope, let respond):
        let call = try await identity.authenticate(request, needing: scope)
        try admission.places.take()
        defer { admission.places.giveBack() }
        return try await respond(call, context)
      case .probe(let respond):
        return try await respond(request, context)
      case .open(let respond):
        let request = route.body.isEmpty ? request : try await admission.arrived(request, context)
        try admission.openPlaces.take()
        defer { admission.openPlaces.giveBack() }
        return try await respond(request, context)
      }
    }
  }
#endif
