// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  package import ReceiptCodec
  internal import ReceiptCrypto
  internal import Synchronization

  /// The keys of the API.
  ///
  /// The keys are stored in the database. Each process caches them in memory for a few seconds, so that a request needs
  /// no query. A key that another process revoked is refused after at most twice ``maximumAge``, and while the database
  /// is unreachable, after at most ``maximumAgeWhileUnavailable``.
  package final class KeyRing: Sendable {
    /// The age after which the cached keys are read again.
    package static let maximumAge: Duration = .seconds(5)
    /// The maximum age of the cached keys while the database is unreachable.
    ///
    /// Verification itself needs no database.
    package static let maximumAgeWhileUnavailable: Duration = .seconds(60)

    private struct State {
      var keys: [String: Key] = [:]
      var loaded: ContinuousClock.Instant?
      var isLoading = false
    }

    private let database: any ServiceDatabase
    /// The apps that keys may be confined to; `nil` for any.
    private let apps: Set<String>?
    private let maximumAge: Duration
    private let maximumAgeWhileUnavailable: Duration
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())
    /// The hash to compare with if the key does not exist, so that both cases take the same time.
    private let absent = [UInt8](repeating: 0, count: 32)

    package init(
      _ database: any ServiceDatabase, apps: Set<String>? = nil, maximumAge: Duration = maximumAge,
      maximumAgeWhileUnavailable: Duration = maximumAgeWhileUnavailable,
      clock: @escaping @Sendable () -> Timestamp
    ) {
      self.database = database
      self.apps = apps
      self.maximumAge = maximumAge
      self.maximumAgeWhileUnavailable = maximumAgeWhileUnavailable
      self.clock = clock
    }

    /// Authenticates a presented key; `nil` if the key does not exist or was revoked.
    ///
    /// - Throws: ``DatabaseError`` if the keys cannot be read. The request must be refused then.
    package func principal(presenting text: some StringProtocol) async throws -> Principal? {
      guard let presented = APIKeyText(text) else { return nil }
      let arrival = ContinuousClock.now
      try await refresh(after: maximumAge)
      var key = state.withLock { $0.keys[presented.id] }
      if key == nil {
        // Another process may have just created it.
        try await refresh(since: arrival)
        key = state.withLock { $0.keys[presented.id] }
      }
      return principal(key, presenting: presented)
    }

    /// Authenticates by the cached keys, if they are recent enough; `nil` does not mean that the key is invalid.
    func knownPrincipal(presenting text: some StringProtocol) -> Principal? {
      guard let presented = APIKeyText(text) else { return nil }
      let key = state.withLock { state in
        state.loaded.map { .now - $0 < maximumAge } == true ? state.keys[presented.id] : nil
      }
      return principal(key, presenting: presented)
    }

    private func principal(_ key: Key?, presenting presented: APIKeyText) -> Principal? {
      let isRight = ConstantTime.equals(presented.hash, key?.hash ?? absent)
      guard isRight, let key, key.revoked == nil, key.principal.isPublishable == presented.isPublishable
      else { return nil }
      return key.principal
    }

    /// The key that a login was made with, by its identifier; `nil` if it was revoked.
    func principal(id: String) async throws -> Principal? {
      try await refresh(after: maximumAge)
      return state.withLock { state in
        state.keys[id].flatMap { $0.revoked == nil ? $0.principal : nil }
      }
    }

    /// Creates a key, whose text cannot be retrieved later, or throws ``InvalidKey``.
    package func create(
      name: String, app: String?, scopes: Set<Scope>, by actor: String
    ) async throws -> APIKeyText {
      guard 1...100 ~= name.utf8.count, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw InvalidKey(
          member: "name", message: "The name of a key has 1 to 100 bytes of UTF-8 without control characters."
        )
      }
      guard !scopes.isEmpty else {
        throw InvalidKey(member: "scopes", message: "A key has at least one scope.")
      }
      let isPublishable = scopes.contains(.client)
      guard !isPublishable || scopes.count == 1 else {
        throw InvalidKey(
          member: "scopes",
          message: "A key with the scope client may be published, and therefore has no other scope.")
      }
      guard !isPublishable || app != nil else {
        throw InvalidKey(member: "app", message: "A key with the scope client is of one app. Name the app.")
      }
      if let app, let apps, !apps.contains(app) {
        throw InvalidKey(member: "app", message: "There is no app \"\(ShownText.plain(app, limit: 100))\".")
      }
      let text = APIKeyText.generate(isPublishable: isPublishable)
      let now = clock().milliseconds
      try await database.write { session in
        try session.run(
          "INSERT INTO api_keys(id, name, app, scopes, hash, created) VALUES ($1, $2, $3, $4, $5, $6)",
          .text(text.id), .text(name), .text(app ?? ""),
          .text(scopes.map(\.rawValue).sorted().joined(separator: " ")), .bytes(text.hash), .integer(now))
        try AdministrativeAct.record(
          "key.create", "id=\(text.id) name=\(name) app=\(app ?? "*")", by: actor, at: now, in: session)
      }
      try await load()
      return text
    }

    /// Revokes a key, and ends the logins that were made with it; returns `false` if the key does not exist.
    package func revoke(id: String, by actor: String) async throws -> Bool {
      let now = clock().milliseconds
      let isThere = try await database.write { session in
        let rows = try session.run(
          "UPDATE api_keys SET revoked = $2 WHERE id = $1 AND revoked IS NULL RETURNING id", .text(id),
          .integer(now))
        try session.run("DELETE FROM sessions WHERE key = $1", .text(id))
        if !rows.isEmpty {
          try AdministrativeAct.record("key.revoke", "id=\(id)", by: actor, at: now, in: session)
        }
        return !rows.isEmpty
      }
      try await load()
      return isThere
    }

    /// All keys, including revoked ones, in the order of their creation.
    package func keys() async throws -> [Key] {
      try await database.rows(
        "SELECT id, name, app, scopes, hash, created, revoked FROM api_keys ORDER BY created, id"
      ).map(Self.key)
    }

    private static func key(_ row: DatabaseRow) -> Key {
      Key(
        principal: Principal(
          keyID: row.text(0), name: row.text(1), app: row.text(2).isEmpty ? nil : row.text(2),
          scopes: Set(row.text(3).split(separator: " ").compactMap { Scope(rawValue: String($0)) })),
        created: row.integer(5), revoked: row.optionalInteger(6), hash: row.bytes(4))
    }

    private func refresh(after maximumAge: Duration) async throws {
      let now = ContinuousClock.now
      let (age, loads) = state.withLock { state in
        let age = state.loaded.map { now - $0 }
        let isFresh = age.map { $0 < maximumAge } ?? false
        let mayWait = age.map { $0 < maximumAgeWhileUnavailable } ?? false
        // While one request reads the keys, other requests use the cached keys. Reading is fast, unless the database is
        // unreachable.
        let loads = !isFresh && !(mayWait && state.isLoading)
        if loads { state.isLoading = true }
        return (age, loads)
      }
      guard loads else { return }
      do {
        try await load()
      } catch {
        guard let age, age < maximumAgeWhileUnavailable else { throw error }
      }
    }

    /// Waits until the keys have been read since an instant, or could not be.
    ///
    /// The keys are read at most ten times a second for keys that do not exist.
    private func refresh(since instant: ContinuousClock.Instant) async throws {
      let interval = Duration.milliseconds(100)
      var attempts = 0
      while attempts < 2 {
        let (loaded, isLoading) = state.withLock { ($0.loaded, $0.isLoading) }
        if let loaded, loaded >= instant { return }
        let wait = isLoading ? .milliseconds(10) : loaded.map { interval - (.now - $0) } ?? .zero
        if wait > .zero {
          try await Task.sleep(for: wait)
        } else {
          attempts += 1
          try await refresh(after: interval)
        }
      }
    }

    private func load() async throws {
      defer { state.withLock { $0.isLoading = false } }
      let start = ContinuousClock.now
      let keys = try await keys()
      state.withLock { state in
        state.keys = Dictionary(keys.map { ($0.principal.keyID, $0) }) { first, _ in first }
        state.loaded = start
      }
    }
  }

  extension KeyRing.InvalidKey {
    package var description: String { "\(member): \(message)" }
  }
#endif
