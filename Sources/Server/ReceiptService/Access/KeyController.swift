// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  package import ReceiptCodec

  /// Lists, creates and revokes keys.
  struct KeyController: Controller {
    let keys: KeyRing
    let bodies: BodyReader

    var routes: [Route] {
      [
        Route(
          method: .get, path: "/v1/keys", operation: "listKeys",
          summary: "The keys of the API, without their secrets.",
          answers: [(200, "The keys.", Route.Content.json("keys"))], respond: .key(.admin, list)),
        Route(
          method: .post, path: "/v1/keys", operation: "createKey",
          summary: "Creates a key. Its text is shown this once.",
          body: Route.Content.json("NewKey"), answers: [(201, "The key.", Route.Content.json("key"))],
          respond: .key(.admin, create)),
        Route(
          method: .delete, path: "/v1/keys/{id}", operation: "revokeKey",
          summary: "Revokes a key: it is refused within ten seconds by every process.",
          parameters: [.path("id", .text, "The identifier of the key.")],
          answers: [(204, "It is revoked.", [])], respond: .key(.admin, revoke)),
      ]
    }

    private func list(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      var object = JSONWriter(type: "keys")
      object.name("keys")
      object.beginArray()
      for key in try await keys.keys(for: call.principal) { key.write(to: &object) }
      object.endArray()
      object.endObject()
      return .json(object)
    }

    private func create(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let body = try await bodies.object(of: call.request)
      guard let name = body["name"]?.string else {
        throw Problem.invalid("$.name", "A key has a name.")
      }
      let named = try (body["scopes"]?.array ?? []).map { value in
        guard let scope = value.string.flatMap({ Scope(rawValue: $0) }) else {
          throw Problem.invalid(
            "$.scopes", "Scopes are: \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return scope
      }
      if let app = body["app"], app != .null, app.string == nil {
        throw Problem.invalid("$.app", "The app is named by a text.")
      }
      let key = try await keys.create(
        name: name, app: body["app"]?.string, scopes: Set(named), for: call.principal)
      var object = JSONWriter(type: "key")
      object.member("id", key.id)
      object.member("key", key.description)
      object.endObject()
      return .json(object, status: .created)
    }

    private func revoke(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      try await keys.revoke(id: try context.parameters.require("id"), for: call.principal)
      return Response(status: .noContent)
    }
  }

  extension KeyRing {
    /// The keys that a principal may manage, in the order of their creation.
    ///
    /// - Throws: ``DatabaseError``.
    func keys(for principal: Principal) async throws -> [Key] {
      try await keys().filter { principal.mayUse(app: $0.principal.app) }
    }

    /// Creates a key, if the principal may.
    ///
    /// - Throws: ``Problem`` if the key is not allowed; ``DatabaseError``.
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
    ///
    /// - Throws: ``Problem`` if the key does not exist; ``DatabaseError``.
    func revoke(id: String, for principal: Principal) async throws {
      guard try await keys(for: principal).contains(where: { $0.principal.keyID == id }),
        try await revoke(id: id, by: principal.keyID)
      else { throw Problem.notFound }
    }
  }

  extension KeyRing.Key {
    /// Writes the key as an object, without its secret.
    package func write(to object: inout JSONWriter) {
      object.beginObject()
      writeMembers(to: &object)
      object.endObject()
    }

    /// Writes the members of the object.
    package func writeMembers(to object: inout JSONWriter) {
      object.member("id", principal.keyID)
      object.member("name", principal.name)
      object.member("app", principal.app)
      object.name("scopes")
      object.beginArray()
      for scope in principal.scopes.map(\.rawValue).sorted() { object.string(scope) }
      object.endArray()
      object.member("created", Timestamp(milliseconds: created))
      object.member("revoked", revoked.map(Timestamp.init(milliseconds:)))
    }
  }
#endif
