// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec

  struct KeyController: Controller {
    let keys: KeyRing
    let bodies: BodyReader

    var routes: [Route] { [.listKeys(list), .createKey(create), .revokeKey(revoke)] }

    private func list(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> KeyList {
      KeyList(keys: try await keys.keys(for: call.principal).map(\.listed))
    }

    private func create(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let new = try NewKey(try await bodies.object(of: call.request))
      let key = try await keys.create(name: new.name, app: new.app, scopes: new.scopes, for: call.principal)
      return .json(CreatedKey(id: key.id, key: key.description).json(), status: .created)
    }

    private func revoke(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      try await keys.revoke(id: try context.parameters.require("id"), for: call.principal)
      return Response(status: .noContent)
    }
  }

  extension KeyRing {
    /// The keys that a principal may manage, in the order of their creation.
    func keys(for principal: Principal) async throws -> [Key] {
      try await keys().filter { principal.mayUse(app: $0.principal.app) }
    }

    /// Creates a key, if the principal may.
    func create(
      name: String, app: String?, scopes: Set<Scope>, for principal: Principal
    ) async throws -> APIKeyText {
      let app = app ?? principal.app
      guard principal.mayUse(app: app) else {
        throw Problem(.forbidden, "other-app", "A key of one app cannot create keys of another.")
      }
      do {
        return try await create(name: name, app: app, scopes: scopes, by: principal.keyID)
      } catch let error as InvalidKey {
        throw Problem.invalid("$.\(error.member)", error.message)
      }
    }

    /// Revokes a key, if the principal may.
    func revoke(id: String, for principal: Principal) async throws {
      guard try await keys(for: principal).contains(where: { $0.principal.keyID == id }),
        try await revoke(id: id, by: principal.keyID)
      else { throw Problem.notFound }
    }
  }

  /// The body of a request for a key.
  private struct NewKey {
    let name: String
    let app: String?
    let scopes: Set<Scope>

    init(_ body: JSONValue) throws(Problem) {
      guard let name = body["name"]?.string else { throw .invalid("$.name", "A key has a name.") }
      var scopes: Set<Scope> = []
      for value in body["scopes"]?.array ?? [] {
        guard let scope = value.string.flatMap({ Scope(rawValue: $0) }) else {
          throw .invalid(
            "$.scopes", "Scopes are: \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        scopes.insert(scope)
      }
      if let app = body["app"], app != .null, app.string == nil {
        throw .invalid("$.app", "The app is named by a text.")
      }
      (self.name, app, self.scopes) = (name, body["app"]?.string, scopes)
    }
  }

  extension KeyRing.Key {
    /// The key as it is listed.
    package var listed: ListedKey {
      ListedKey(
        id: principal.keyID, name: principal.name, app: principal.app,
        scopes: principal.scopes.sorted { $0.rawValue < $1.rawValue },
        created: Timestamp(milliseconds: created), revoked: revoked.map(Timestamp.init(milliseconds:)))
    }
  }
#endif
