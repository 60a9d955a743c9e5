// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird

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
#endif
