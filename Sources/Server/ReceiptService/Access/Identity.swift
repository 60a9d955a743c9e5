// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCrypto

  /// Identifies the key that makes a request.
  ///
  /// Everything that needs a key uses this type: the routes, the handler that answers before the router, streams and
  /// batches under way, and the controls of an emulated store. The rules that say what a key allows are below, and
  /// apply to the logins of the console, too.
  struct Identity: Sendable {
    let keys: KeyRing
    let apps: ServedApps

    /// Authenticates the key of a request.
    ///
    /// - Throws: ``Problem``: 401 if no valid key is presented, 403 without the scope; ``DatabaseError`` if the keys
    ///   cannot be read.
    func authenticate(_ request: Request, needing scope: Scope) async throws -> AuthenticatedRequest {
      guard let key = Self.presentedKey(request), let principal = try await keys.principal(presenting: key)
      else { throw Problem.unauthorized }
      try principal.require(scope)
      return AuthenticatedRequest(request: request, principal: principal, apps: apps)
    }

    /// The same if the keys in memory suffice; `nil` does not mean that the request is refused.
    func authenticateAtOnce(_ request: Request, needing scope: Scope) -> AuthenticatedRequest? {
      guard let key = Self.presentedKey(request),
        let call = authenticateAtOnce(request, presenting: key), call.principal.may(scope)
      else { return nil }
      return call
    }

    /// The same for a key at a client protocol.
    func authenticateAtOnce(
      _ request: Request, presenting key: some StringProtocol
    ) -> AuthenticatedRequest? {
      keys.knownPrincipal(presenting: key).map {
        AuthenticatedRequest(request: request, principal: $0, apps: apps)
      }
    }

    /// Authenticates a key at a client protocol, which has its own place for keys and its own errors.
    ///
    /// - Returns: `nil` if there is no such key.
    /// - Throws: ``DatabaseError`` if the keys cannot be read.
    func authenticate(
      _ request: Request, presenting key: some StringProtocol
    ) async throws -> AuthenticatedRequest? {
      guard let principal = try await keys.principal(presenting: key) else { return nil }
      return AuthenticatedRequest(request: request, principal: principal, apps: apps)
    }

    /// Returns `true` if the key of a request that is still being answered has not been revoked meanwhile.
    func isStillAllowed(_ principal: Principal, _ scope: Scope) async throws -> Bool {
      try await keys.principal(id: principal.keyID)?.may(scope) == true
    }

    /// The key in the `Authorization` field of a request (RFC 6750 section 2.1); `nil` if the field occurs more than
    /// once.
    static func presentedKey(_ request: Request) -> Substring? {
      let values = request.headers[values: .authorization]
      guard values.count == 1, let value = values.first, value.utf8.count > 7,
        value.utf8.prefix(7).elementsEqual("Bearer ".utf8, by: { $0 | 0x20 == $1 | 0x20 })
      else { return nil }
      return value.dropFirst(7)
    }
  }

  /// A request with the key that makes it, which ``Identity`` has authenticated.
  struct AuthenticatedRequest: Sendable {
    let request: Request
    let principal: Principal
    fileprivate let apps: ServedApps

    /// The app of the request: that of the key, the one that the parameter `app` names, or the only one.
    ///
    /// - Parameter name: The name of the app, if it is named in another place than the parameter.
    /// - Returns: The app.
    /// - Throws: ``Problem`` if the key may not use the app, or if none is named and there are several.
    func app(named name: String? = nil) throws -> ServedApp {
      let named = try name ?? request.queryParameter("app")
      if let named, !principal.mayUse(app: named) { throw Problem.notFound }
      if let name = principal.app ?? named {
        guard let app = apps[name] else { throw Problem.notFound }
        return app
      }
      guard apps.all.count == 1 else {
        let names = apps.all.map(\.name).sorted().joined(separator: "|")
        throw Problem.invalid("app", "Name the app: app=\(names).")
      }
      return apps.all[0]
    }

    /// The audit entries that the request may see.
    ///
    /// These are the entries of the app that the request names or that its key is confined to. They are all entries if
    /// the key is for all apps and the request names no app.
    func audience() throws -> EntryAudience {
      let isForAll = try principal.isForAllApps && request.queryParameter("app") == nil
      return EntryAudience(app: isForAll ? nil : try app())
    }
  }

  // MARK: Rules

  extension Scope {
    /// The scopes of a key that must be kept secret.
    package static let ofSecretKeys = Set(allCases).subtracting([.client])
  }

  extension Principal {
    func may(_ scope: Scope) -> Bool { scopes.contains(scope) }

    func require(_ scope: Scope) throws(Problem) {
      guard may(scope) else { throw .forbidden(scope) }
    }

    /// `true` if the key may be part of a published app.
    var isPublishable: Bool { may(.client) }

    /// `true` if the key is confined to no app.
    var isForAllApps: Bool { mayUse(app: nil) }

    /// Returns `true` if the key may read and change the data of an app; of all apps and the server itself for `nil`.
    func mayUse(app name: String?) -> Bool { app == nil || app == name }

    /// - Throws: ``Problem`` if the key may not use an app; not all apps for `nil`.
    func require(app name: String?) throws(Problem) {
      guard mayUse(app: name) else { throw .notFound }
    }
  }

  /// The text of an API key, which is shown once: `rk_ID_SECRET`, or `pk_ID_SECRET` if it may be published.
  ///
  /// The identifier has 12 hexadecimal digits; the secret is 32 random bytes in base64url. The server stores the
  /// SHA-256 of the secret. 256 random bits need neither salt nor key stretching.
  package struct APIKeyText: Sendable, Hashable, CustomStringConvertible {
    package let id: String
    let secret: String
    /// `true` for a key that may be part of a published app.
    let isPublishable: Bool

    package static func generate(isPublishable: Bool = false) -> APIKeyText {
      APIKeyText(
        id: Hexadecimal.encode(Random.bytes(6)), secret: Base64URL.encodeToString(Random.bytes(32)),
        isPublishable: isPublishable)
    }

    /// The SHA-256 hash of the secret, which is stored instead of the secret.
    package var hash: [UInt8] { Digest.hash(Array(secret.utf8), using: .sha256) }

    package var description: String { "\(isPublishable ? "pk" : "rk")_\(id)_\(secret)" }
  }

  extension APIKeyText {
    package init?(_ text: some StringProtocol) {
      let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, ["rk", "pk"].contains(parts[0]), parts[1].utf8.count == 12,
        parts[2].utf8.count == 43
      else { return nil }
      self.init(id: String(parts[1]), secret: String(parts[2]), isPublishable: parts[0] == "pk")
    }
  }
#endif
