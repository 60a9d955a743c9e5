// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import ReceiptCrypto

  /// A random key of a service's database, for digests of data that must not be readable.
  ///
  /// An unkeyed digest would allow guessing its input, since customers are e-mail addresses and numbers. With this key,
  /// only a reader of the database can guess. A digest in the list of administrative acts, an export or a log reveals
  /// nothing.
  struct ServiceSecret: Sendable {
    private static let name = "digests"
    private let key: [UInt8]

    /// Creates the key of a database.
    static func create(in session: any DatabaseSession) throws {
      try session.run(
        "INSERT INTO secrets(name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", .text(name),
        .bytes(Random.bytes(32)))
    }

    /// Reads the key of a database.
    init(in session: any DatabaseSession) throws {
      let rows = try session.run("SELECT secret FROM secrets WHERE name = $1", .text(Self.name))
      guard let key = rows.first?.bytes(0), key.count == 32 else {
        throw DatabaseError(
          .unusable, at: "secrets", "The key \"\(Self.name)\" is missing. Restore the database from a backup."
        )
      }
      self.key = key
    }

    /// Computes the HMAC-SHA-256 of texts for a purpose.
    func digest(_ purpose: String, _ texts: String...) throws -> [UInt8] {
      // Prefix each text with its length, so that different texts give different messages.
      let message = ([purpose] + texts).flatMap { text in Array("\(text.utf8.count) ".utf8) + Array(text.utf8)
      }
      return try HMAC.code(for: message, key: key, using: .sha256)
    }
  }
#endif
