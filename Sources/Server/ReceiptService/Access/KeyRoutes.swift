// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  package import ReceiptCodec

  extension ReceiptAPI {
    var keyRoutes: [Route] {
      [
        Route(
          method: .get, path: "/v1/keys", operation: "listKeys", access: .key(.admin),
          summary: "The keys of the API, without their secrets.",
          answers: [(200, "The keys.", [.init(mediaType: "application/json", schema: "keys")])],
          respond: { [unowned self] _, context in
            let principal = context.principal
            let keys = try await keys.keys().filter { key in
              principal?.app == nil || principal?.app == key.principal.app
            }
            var object = JSONWriter(type: "keys")
            object.name("keys")
            object.beginArray()
            for key in keys { key.write(to: &object) }
            object.endArray()
            object.endObject()
            return .json(object)
          }),
        Route(
          method: .post, path: "/v1/keys", operation: "createKey", access: .key(.admin),
          summary: "Creates a key. Its text is shown this once.",
          body: [.init(mediaType: "application/json", schema: "NewKey")],
          answers: [(201, "The key.", [.init(mediaType: "application/json", schema: "key")])],
          respond: { [unowned self] in try await createKey($0, $1) }),
        Route(
          method: .delete, path: "/v1/keys/{id}", operation: "revokeKey", access: .key(.admin),
          summary: "Revokes a key: it is refused within ten seconds by every process.",
          parameters: [.path("id", .text, "The identifier of the key.")],
          answers: [(204, "It is revoked.", [])],
          respond: { [unowned self] _, context in
            try await revokeKey(try context.parameters.require("id"), for: context.principal)
            return Response(status: .noContent)
          }),
      ]
    }

    private func createKey(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let body = try await jsonBody(of: request)
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
      let key = try await createKey(
        named: name, app: body["app"]?.string, scopes: Set(named), for: context.principal)
      var object = JSONWriter(type: "key")
      object.member("id", key.id)
      object.member("key", key.description)
      object.endObject()
      return .json(object, status: .created)
    }

    /// Creates a key, if the principal may.
    ///
    /// - Throws: ``Problem`` if the key is not allowed; ``DatabaseError``.
    func createKey(
      named name: String, app: String?, scopes: Set<Scope>, for principal: Principal?
    ) async throws -> APIKeyText {
      let own = principal?.app
      let app = app ?? own
      guard own == nil || own == app else {
        throw Problem(.forbidden, "other-app", "A key of one app cannot create keys of another.")
      }
      do {
        return try await keys.create(name: name, app: app, scopes: scopes, by: principal?.keyID ?? "")
      } catch let error as KeyRing.InvalidKey {
        throw Problem.invalid("$.\(error.member)", error.message)
      }
    }

    /// Revokes a key, if the principal may.
    ///
    /// - Throws: ``Problem`` if the key does not exist; ``DatabaseError``.
    func revokeKey(_ id: String, for principal: Principal?) async throws {
      let own = principal?.app
      let known = try await keys.keys().first { $0.principal.keyID == id }
      guard let known, own == nil || own == known.principal.app,
        try await keys.revoke(id: id, by: principal?.keyID ?? "")
      else { throw Problem.notFound }
    }

    /// Parses the body of a request as JSON.
    func jsonBody(of request: Request) async throws -> JSONValue {
      let bytes = try await contentBody(of: request)
      do throws(MalformedReceipt) {
        let value = try JSONValue(parsing: bytes)
        guard value.object != nil else {
          throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "It is no object.")
        }
        return value
      } catch {
        throw Problem.invalid("body", "The body is no JSON object: \(error)")
      }
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
