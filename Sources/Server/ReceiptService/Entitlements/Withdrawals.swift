// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// Refunds and revocations of purchases whose customers were erased.
  ///
  /// Such purchases must not be granted when they are presented again.
  ///
  /// The table contains no personal data, and a row cannot be read without knowing the purchase. A row is found by a
  /// keyed digest of app, store, environment and purchase, and its contents are encrypted with a key that is another
  /// such digest. The table therefore reveals only the number of purchases, not the purchases or their customers. An
  /// attacker who can read the database, and thus its key, can test whether the table contains a known purchase, or try
  /// the identifiers of all purchases. That cannot be prevented, since this look-up is the purpose of the table.
  struct Withdrawals {
    let app: String
    let session: any DatabaseSession
    private let secret: ServiceSecret

    init(app: String, in session: any DatabaseSession) throws {
      self.app = app
      self.session = session
      secret = try ServiceSecret(in: session)
    }

    /// Stores the refunds and revocations of one part of a ledger, if it contains any; its name contains store,
    /// environment and purchase.
    func keep(_ name: String, _ ledger: EntitlementLedger) throws {
      guard let facts = ledger.withdrawals else { return }
      var sealed: [UInt8] = []
      var cipher = AES256GCM()
      cipher.seal(
        facts.encoded().span, key: try key(of: name), nonce: Random.bytes(AES256GCM.nonceByteCount).span,
        into: &sealed)
      try session.run(
        """
        INSERT INTO withdrawals(app, purchase, facts) VALUES ($1, $2, $3)
        ON CONFLICT(app, purchase) DO UPDATE SET facts = excluded.facts
        """, .text(app), .bytes(try purchase(name)), .bytes(sealed))
    }

    /// The stored refunds and revocations of a purchase, which must not be granted if they cannot be read.
    func facts(of name: String) throws -> EntitlementLedger? {
      let rows = try session.run(
        "SELECT facts FROM withdrawals WHERE app = $1 AND purchase = $2", .text(app),
        .bytes(try purchase(name)))
      guard let sealed = rows.first?.bytes(0) else { return nil }
      var cipher = AES256GCM()
      guard let bytes = cipher.open(sealed.span, key: try key(of: name)) else {
        throw DatabaseError(
          .unusable, at: "withdrawals", "A row was altered. Restore the database from a backup.")
      }
      return try EntitlementLedger(stored: bytes)
    }

    private func purchase(_ name: String) throws -> [UInt8] {
      try secret.digest("withdrawn purchase", app, name)
    }

    private func key(of name: String) throws -> PrefixedSHA256.Words {
      guard let key = PrefixedSHA256.words(of: try secret.digest("withdrawal facts", app, name)) else {
        throw DatabaseError(.unusable, at: "secrets", "A digest has not 32 bytes.")
      }
      return key
    }
  }
#endif
