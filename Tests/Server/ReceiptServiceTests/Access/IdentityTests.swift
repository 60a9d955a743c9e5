// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import Hummingbird
  import NIOCore
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The rights of a key: its scopes, and the app that it is confined to.
  @Suite struct IdentityTests {
    /// The identity of a service with the apps `shop` and `other`, a key for all apps, and one for `shop`.
    private static func withIdentity(
      appNames: [String] = ["shop", "other"],
      _ body: (_ identity: Identity, _ all: String, _ shop: String) async throws -> Void
    ) async throws {
      try await withService(on: .sqlite) { service in
        let apps = try appNames.map { try AppConfiguration(name: $0, policies: service.app.policies) }
        let keys = KeyRing(service.database, clock: service.clock.reading)
        let all = try await keys.create(name: "all", app: nil, scopes: [.read], by: "test")
        let shop = try await keys.create(name: "shop", app: "shop", scopes: [.read], by: "test")
        let identity = Identity(keys: keys, apps: try ServedApps(ServiceConfiguration(apps: apps)))
        try await body(identity, "Bearer \(all)", "Bearer \(shop)")
      }
    }

    private static func request(_ authorization: [String], _ query: String = "") -> Request {
      var fields = HTTPFields()
      fields[values: .authorization] = authorization
      let head = HTTPRequest(
        method: .get, scheme: nil, authority: nil, path: "/\(query)", headerFields: fields)
      return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    /// The name of the app that a request is for, or the status of its refusal.
    private static func app(
      _ identity: Identity, _ authorization: String, _ query: String = ""
    ) async throws -> String {
      try await outcome {
        try await identity.authenticate(request([authorization], query), needing: .read).app().name
      }
    }

    private static func outcome(_ body: () async throws -> String) async throws -> String {
      do {
        return try await body()
      } catch let problem as Problem {
        return "\(problem.status.code)"
      }
    }

    @Test("a request needs one key of this server, with the scope")
    func keysAndScopes() async throws {
      try await Self.withIdentity { identity, all, shop in
        let refused: [([String], Scope, String)] = [
          ([], .read, "401"), ([all, all], .read, "401"), ([String(all.dropLast()) + "!"], .read, "401"),
          ([String(all.dropFirst(7))], .read, "401"), ([all], .admin, "403"), ([shop], .verify, "403"),
        ]
        for (authorization, scope, status) in refused {
          let request = Self.request(authorization)
          let outcome = try await Self.outcome {
            try await identity.authenticate(request, needing: scope).principal.name
          }
          #expect(outcome == status, "\(authorization) \(scope)")
          #expect(identity.authenticateAtOnce(request, needing: scope) == nil)
        }
        let request = Self.request(["bearer" + all.dropFirst(6)])
        #expect(try await identity.authenticate(request, needing: .read).principal.name == "all")
        #expect(identity.authenticateAtOnce(request, needing: .read)?.principal.name == "all")
      }
    }

    @Test("a key that is confined to an app uses no other, and does not learn of it")
    func confinement() async throws {
      try await Self.withIdentity { identity, all, shop in
        let requests = [
          (shop, "", "shop"), (shop, "?app=shop", "shop"), (shop, "?app=other", "404"),
          (shop, "?app=none", "404"), (all, "?app=other", "other"), (all, "?app=none", "404"),
          (all, "", "400"), (all, "?app=shop&app=shop", "400"),
        ]
        for (key, query, expected) in requests {
          let outcome = try await Self.app(identity, key, query)
          #expect(outcome == expected, "\(query)")
        }
      }
      try await Self.withIdentity(appNames: ["shop"]) { identity, all, _ in
        let outcome = try await Self.app(identity, all)
        #expect(outcome == "shop")
      }
      try await Self.withIdentity(appNames: ["other"]) { identity, _, shop in
        let outcome = try await Self.app(identity, shop)
        #expect(outcome == "404", "its app is no longer in the configuration")
      }
    }

    @Test("all entries and what concerns the server are for keys that are confined to no app")
    func audiences() async throws {
      try await Self.withIdentity { identity, all, shop in
        func audience(_ authorization: String, _ query: String = "") async throws -> String {
          let call = try await identity.authenticate(Self.request([authorization], query), needing: .read)
          return try call.audience().app?.name ?? "all"
        }
        #expect(try await audience(all) == "all")
        #expect(try await audience(all, "?app=other") == "other")
        #expect(try await audience(shop) == "shop")
        let principals = [
          try await identity.authenticate(Self.request([all]), needing: .read).principal,
          try await identity.authenticate(Self.request([shop]), needing: .read).principal,
        ]
        #expect(principals.map(\.isForAllApps) == [true, false])
        for name in [nil, "other"] {
          #expect(principals.map { $0.mayUse(app: name) } == [true, false])
          #expect(throws: Problem.self) { try principals[1].require(app: name) }
        }
        #expect(principals.allSatisfy { $0.mayUse(app: "shop") })
        let keys = identity.keys
        #expect(try await keys.keys(for: principals[0]).count == 2)
        #expect(try await keys.keys(for: principals[1]).map(\.principal.name) == ["shop"])
      }
    }

    @Test("a key that is confined to an app creates and revokes keys of that app alone")
    func keysOfKeys() async throws {
      try await Self.withIdentity { identity, _, shop in
        let keys = identity.keys
        let principal = try await identity.authenticate(Self.request([shop]), needing: .read).principal
        for app in [nil, "shop"] {
          let key = try await keys.create(name: "new", app: app, scopes: [.read], for: principal)
          #expect(try await keys.principal(id: key.id)?.app == "shop")
          try await keys.revoke(id: key.id, for: principal)
          #expect(try await keys.principal(id: key.id) == nil)
        }
        let refusal = try await Self.outcome {
          try await keys.create(name: "new", app: "other", scopes: [.read], for: principal).id
        }
        #expect(refusal == "403")
        for key in try await keys.keys() where key.principal.app == nil {
          let refusal = try await Self.outcome {
            try await keys.revoke(id: key.principal.keyID, for: principal)
            return "revoked"
          }
          #expect(refusal == "404")
          #expect(try await keys.principal(id: key.principal.keyID) != nil)
        }
      }
    }
  }
#endif
