// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// Answers the keys, and what administrators did with them.
  struct KeyController {
    let keys: KeyRing
    let bodies: BodyReader
    let database: any ServiceDatabase

    var routes: [Route] {
      [.listKeys(list), .createKey(create), .revokeKey(revoke), .listAdministrativeActs(acts)]
    }

    private func list(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> KeyList {
      KeyList(keys: try await keys.keys(for: call.principal).map(\.listed))
    }

    private func create(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let body = try await bodies.object(of: call.request)
      guard let name = body["name"]?.string else { throw Problem.invalid("$.name", "A key has a name.") }
      let scopes = try (body["scopes"]?.array ?? []).map { value in
        guard let scope = value.string.flatMap({ Scope(rawValue: $0) }) else {
          let names = Scope.allCases.map(\.rawValue).joined(separator: ", ")
          throw Problem.invalid("$.scopes", "Scopes are: \(names).")
        }
        return scope
      }
      if let app = body["app"], app != .null, app.string == nil {
        throw Problem.invalid("$.app", "The app is named by a text.")
      }
      let key = try await keys.create(
        name: name, app: body["app"]?.string, scopes: Set(scopes), for: call.principal)
      return .json(CreatedKey(id: key.id, key: key.description).json(), status: .created)
    }

    private func revoke(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      try await keys.revoke(id: try context.parameters.require("id"), for: call.principal)
      return Response(status: .noContent)
    }

    private func acts(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> AdministrativeActs {
      try call.principal.require(app: nil)
      let before = try call.request.integerParameter("before", 0...Int64.max, default: .max)
      let limit = try call.request.limit
      return AdministrativeActs(
        acts: try await database.read { try AdministrativeAct.newest(limit, before: before, in: $0) })
    }
  }

  extension AdministrativeAct {
    /// Records an action by a key, or by `command line`, at a time in milliseconds.
    package static func record(
      _ act: String, _ details: String, by actor: String, at time: Int64, in session: any DatabaseSession
    ) throws {
      try session.run(
        "INSERT INTO administrative_acts(time, actor, act, details) VALUES ($1, $2, $3, $4)",
        .integer(time), .text(actor), .text(act), .text(ShownText.plain(details, limit: 1000)))
    }

    /// The latest actions, latest first.
    package static func newest(
      _ limit: Int, before sequence: Int64 = .max, in session: any DatabaseSession
    ) throws -> [AdministrativeAct] {
      try session.run(
        """
        SELECT sequence, time, actor, act, details FROM administrative_acts WHERE sequence < $1
        ORDER BY sequence DESC LIMIT $2
        """, .integer(sequence), .integer(Int64(limit))
      ).map {
        AdministrativeAct(
          sequence: $0.integer(0), time: Timestamp(milliseconds: $0.integer(1)), actor: $0.text(2),
          act: $0.text(3), details: $0.text(4))
      }
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
