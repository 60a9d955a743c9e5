// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// The logins of the console.
  ///
  /// They are stored in the service's database, so that all processes share them. A cookie contains 32 random bytes;
  /// the database stores their SHA-256.
  struct ConsoleSessions: Sendable {
    /// The number of seconds after which a login expires.
    static let lifetime: Int64 = 12 * 3600

    let database: any ServiceDatabase
    let keys: KeyRing
    let clock: @Sendable () -> Timestamp

    /// Begins a login, and returns the secret of the cookie.
    func begin(_ principal: Principal) async throws -> String {
      let secret = Self.generateSecret()
      let now = clock().milliseconds
      try await database.write { session in
        try session.run("DELETE FROM sessions WHERE expires <= $1", .integer(now))
        try session.run(
          "INSERT INTO sessions(hash, key, created, expires) VALUES ($1, $2, $3, $4)",
          .bytes(Self.hash(secret)), .text(principal.keyID), .integer(now),
          .integer(now + Self.lifetime * 1000))
        try AdministrativeAct.record(
          "console.login", "scopes=\(principal.scopes.map(\.rawValue).sorted().joined(separator: ","))",
          by: principal.keyID, at: now, in: session)
      }
      return secret
    }

    /// The key that a cookie's login was made with; `nil` if there is no login, or if the key was revoked.
    func principal(_ secret: String) async throws -> Principal? {
      let now = clock().milliseconds
      let rows = try await database.rows(
        "SELECT key FROM sessions WHERE hash = $1 AND expires > $2", .bytes(Self.hash(secret)), .integer(now))
      guard let key = rows.first?.text(0) else { return nil }
      return try await keys.principal(id: key)
    }

    func end(_ secret: String) async throws {
      try await database.run("DELETE FROM sessions WHERE hash = $1", .bytes(Self.hash(secret)))
    }

    static func generateSecret() -> String { Base64URL.encodeToString(Random.bytes(32)) }

    /// The token that forms contain, which neither follows from the database's contents nor reveals the cookie.
    static func formToken(_ secret: String) -> String {
      Base64URL.encodeToString(hash("receipt-server console form \(secret)"))
    }

    private static func hash(_ text: String) -> [UInt8] { Digest.hash(Array(text.utf8), using: .sha256) }
  }
#endif
