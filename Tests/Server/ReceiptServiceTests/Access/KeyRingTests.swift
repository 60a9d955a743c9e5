// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing

  /// Keys, and how long they count while nobody can ask for them.
  @Suite struct KeyRingTests {
    /// A database that can be read while it is there.
    private final class AbsentDatabase: ServiceDatabase {
      private let database: any ServiceDatabase
      let isThere = Mutex(true)
      let reads = Mutex(0)

      init(_ database: any ServiceDatabase) { self.database = database }

      private func look() throws {
        guard isThere.withLock({ $0 }) else { throw DatabaseError(.unavailable, at: "test", "It is away.") }
      }

      func write<Result: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
      ) async throws -> Result {
        try look()
        return try await database.write(body)
      }

      func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
      ) async throws -> Result {
        reads.withLock { $0 += 1 }
        try look()
        return try await database.read(body)
      }

      func scrub(_ tables: Set<String>) async throws {}
      func close() async {}
    }

    @Test(
      "keys count for a while without the database, and then nobody is let in", arguments: DatabaseKind.all)
    func absence(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let database = AbsentDatabase(service.database)
        func ring(_ limit: Duration) -> KeyRing {
          KeyRing(
            database, maximumAge: .zero, maximumAgeWhileUnavailable: limit, clock: service.clock.reading)
        }
        let (patient, strict) = (ring(.seconds(3600)), ring(.zero))
        let key = "\(try await patient.create(name: "test", app: nil, scopes: [.verify], by: "test"))"
        for keys in [patient, strict] { #expect(try await keys.principal(presenting: key) != nil) }
        database.isThere.withLock { $0 = false }
        #expect(try await patient.principal(presenting: key) != nil)
        await #expect(throws: DatabaseError.self) { try await strict.principal(presenting: key) }
        // Keys that were never read let nobody in.
        await #expect(throws: DatabaseError.self) {
          try await ring(.seconds(3600)).principal(presenting: key)
        }
        database.isThere.withLock { $0 = true }
        #expect(try await strict.principal(presenting: key) != nil)
      }
    }

    @Test("a key that another process revoked is refused at the next reading")
    func revoked() async throws {
      try await withService(on: .sqlite) { service in
        let (own, other) = (
          KeyRing(service.database, maximumAge: .zero, clock: service.clock.reading),
          KeyRing(service.database, clock: service.clock.reading)
        )
        let key = try await own.create(name: "test", app: nil, scopes: [.read], by: "test")
        #expect(try await own.principal(presenting: "\(key)") != nil)
        #expect(try await other.revoke(id: key.id, by: "test"))
        #expect(try await own.principal(presenting: "\(key)") == nil)
        #expect(try await !other.revoke(id: key.id, by: "test"))
      }
    }

    @Test(
      "a key that another process has just created lets in whoever presents it", arguments: DatabaseKind.all)
    func created(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let (own, other) = (
          KeyRing(service.database, clock: service.clock.reading),
          KeyRing(service.database, clock: service.clock.reading)
        )
        for _ in 0..<5 {
          // The keys in memory are as recent as can be.
          _ = try await own.principal(presenting: "\(APIKeyText.generate())")
          let key = "\(try await other.create(name: "test", app: nil, scopes: [.read], by: "test"))"
          try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await own.principal(presenting: key) != nil } }
            for try await isLetIn in group { #expect(isLetIn) }
          }
        }
      }
    }

    @Test("keys that nobody created cost at most ten readings a second")
    func strangers() async throws {
      try await withService(on: .sqlite) { service in
        let database = AbsentDatabase(service.database)
        let keys = KeyRing(database, clock: service.clock.reading)
        _ = try await keys.principal(presenting: "\(APIKeyText.generate())")
        let elapsed = try await ContinuousClock().measure {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
              group.addTask {
                let stranger = try await keys.principal(presenting: "\(APIKeyText.generate())")
                #expect(stranger == nil)
              }
            }
            try await group.waitForAll()
          }
        }
        #expect(Double(database.reads.withLock { $0 }) <= 4 + 10 * (elapsed / .seconds(1)))
      }
    }

    @Test("every way to a key refuses the same names and scopes")
    func invalid() async throws {
      try await withService(on: .sqlite) { service in
        let keys = KeyRing(service.database, apps: ["shop"], clock: service.clock.reading)
        let api = try ReceiptAPI(ServiceConfiguration(apps: [service.app]), database: service.database)
        let administrator = Principal(keyID: "test", name: "test", app: nil, scopes: [.admin])
        let wanted: [(name: String, app: String?, scopes: Set<Scope>, member: String)] = [
          ("", nil, [.read], "name"), (String(repeating: "a", count: 101), nil, [.read], "name"),
          ("a\nb", nil, [.read], "name"), ("a\u{7F}", nil, [.read], "name"), ("a", "other", [.read], "app"),
          ("a", "shop", [], "scopes"),
        ]
        for (name, app, scopes, member) in wanted {
          let error = await #expect(throws: KeyRing.InvalidKey.self) {
            try await keys.create(name: name, app: app, scopes: scopes, by: "test")
          }
          #expect(error?.member == member)
          let refusal = await #expect(throws: ServiceConfigurationError.self) {
            try await api.createKey(name: name, app: app, scopes: scopes)
          }
          #expect(refusal?.setting == member)
          let problem = await #expect(throws: Problem.self) {
            try await keys.create(name: name, app: app, scopes: scopes, for: administrator)
          }
          #expect(problem?.place == "$.\(member)")
        }
        #expect(try await keys.keys().isEmpty)
        _ = try await keys.create(
          name: String(repeating: "é", count: 50), app: "shop", scopes: [.read], by: "test")
      }
    }

    @Test("a key that may be published has no other scope, is of one app, and is told apart by its text")
    func publishable() async throws {
      try await withService(on: .sqlite) { service in
        let keys = KeyRing(service.database, apps: ["shop"], maximumAge: .zero, clock: service.clock.reading)
        for (app, scopes, member) in [
          ("shop", [.client, .verify], "scopes"), ("shop", Set(Scope.allCases), "scopes"),
          (nil, [.client], "app"),
        ] as [(String?, Set<Scope>, String)] {
          let error = await #expect(throws: KeyRing.InvalidKey.self) {
            try await keys.create(name: "app", app: app, scopes: scopes, by: "test")
          }
          #expect(error?.member == member)
        }
        let text = "\(try await keys.create(name: "app", app: "shop", scopes: [.client], by: "test"))"
        #expect(text.hasPrefix("pk_"))
        let principal = try #require(try await keys.principal(presenting: text))
        #expect(principal.isPublishable && principal.app == "shop" && principal.scopes == [.client])
        #expect(try await keys.principal(presenting: "rk" + text.dropFirst(2)) == nil)
        let secret = "\(try await keys.create(name: "server", app: "shop", scopes: [.verify], by: "test"))"
        #expect(secret.hasPrefix("rk_"))
        #expect(try await keys.principal(presenting: "pk" + secret.dropFirst(2)) == nil)
        #expect(keys.knownPrincipal(presenting: "pk" + secret.dropFirst(2)) == nil)
      }
    }
  }
#endif
