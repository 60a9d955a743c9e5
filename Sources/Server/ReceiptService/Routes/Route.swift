// SPDX-License-Identifier: Apache-2.0

#if Server
  package import HTTPTypes
  internal import Hummingbird

  /// An operation of the API.
  ///
  /// One table of routes defines the router, the OpenAPI description and the access tests.
  package struct Route: Sendable {
    /// The key that an operation requires.
    package enum Access: Sendable, Hashable {
      /// No key, because the content of the request authenticates itself, or the response reveals nothing.
      case open
      /// A key with this scope.
      case key(Scope)
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
    }

    /// The content of a request or a response: its media type, and the name of its schema in the description.
    package struct Content: Sendable {
      let mediaType: String
      let schema: String
    }

    package let method: HTTPRequest.Method
    /// The path, with parameters in braces as in OpenAPI.
    package let path: String
    /// The operation's identifier in the description.
    package let operation: String
    package let access: Access
    let summary: String
    var parameters: [Parameter] = []
    var body: [Content] = []
    /// The responses, success first.
    var answers: [(status: Int, meaning: String, content: [Content])]
    let respond: @Sendable (Request, ServiceContext) async throws -> Response
  }
#endif
