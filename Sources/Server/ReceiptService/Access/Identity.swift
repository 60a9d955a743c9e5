// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird

  /// Identifies the key that makes a request, and decides whether the key allows the request.
  ///
  /// Everything that needs a key uses this type: the routes, the handler that answers before the router, streams and
  /// batches under way, the console, and the controls of an emulated store.
  struct Identity: Sendable {
    let keys: KeyRing

    /// Returns the principal of a request.
    ///
    /// - Parameters:
    ///   - request: The request, with its key in `Authorization: Bearer …`.
    ///   - scope: The scope that the key must have.
    ///   - app: The app that the key must be allowed to use, if the request is for a particular one.
    /// - Returns: The principal.
    /// - Throws: ``Problem``: 401 if no valid key is presented, 403 without the scope, 404 if the key is confined to
    ///   another app; ``DatabaseError`` if the keys cannot be read.
    func principal(
      of request: Request, needing scope: Scope, app: String? = nil
    ) async throws -> Principal {
      guard let key = Self.presentedKey(request), let principal = try await keys.principal(presenting: key)
      else { throw Problem.unauthorized }
      guard principal.may(scope) else { throw Problem.forbidden(scope) }
      if let app, !principal.mayUse(app: app) { throw Problem.notFound }
      return principal
    }

    /// Returns the principal of a request if the keys in memory suffice, without waiting for the database.
    ///
    /// `nil` does not mean that the request is refused.
    func knownPrincipal(of request: Request, needing scope: Scope) -> Principal? {
      guard let key = Self.presentedKey(request), let principal = keys.knownPrincipal(presenting: key),
        principal.may(scope)
      else { return nil }
      return principal
    }

    /// Returns `true` if the key of a request that is still being answered has not been revoked meanwhile.
    ///
    /// - Throws: ``DatabaseError`` if the keys cannot be read.
    func isStillAllowed(_ principal: Principal?, _ scope: Scope) async throws -> Bool {
      guard let principal else { return false }
      return try await keys.principal(id: principal.keyID)?.may(scope) == true
    }

    /// The key in the `Authorization` field of a request (RFC 6750 section 2.1); `nil` if the field occurs more than
    /// once.
    private static func presentedKey(_ request: Request) -> Substring? {
      let values = request.headers[values: .authorization]
      guard values.count == 1, let value = values.first, value.utf8.count > 7,
        value.utf8.prefix(7).elementsEqual("Bearer ".utf8, by: { $0 | 0x20 == $1 | 0x20 })
      else { return nil }
      return value.dropFirst(7)
    }
  }
#endif
