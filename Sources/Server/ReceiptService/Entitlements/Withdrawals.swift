// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// Refunds and revocations of purchases whose customers were erased.
  ///
  /// Such purchases must not be granted when they are presented again.
  ///
  /// The table holds no personal data, and a row cannot be read without the purchase. A row is found by a keyed digest
  /// of app, store, environment and purchase, and its contents are encrypted with a key that is another such digest. So
  /// the table reveals neither the purchases nor their customers, only the number of purchases. An attacker who can
  /// read the database, and thus its key, can test whether the table contains a purchase that they know, or try the
  /// identifiers of all purchases. The table cannot prevent that, since this lookup is its purpose.
  struct Withdrawals {
    let app: String
    let session: any DatabaseSession
    private let secret: ServiceSecret

    /// - Throws: ``DatabaseError``.
    init(app: String, in session: any DatabaseSession) throws {
      self.app = app
      self.session = session
      secret = try ServiceSecret(in: session)
    }

    /// Keeps a ledger's facts about refunds and revocations of one purchase, if there are any.
    ///
    /// - Parameters:
    ///   - name: The name of the ledger's part, which has store, environment and purchase.
    ///   - ledger: The part.
    /// - Throws: ``DatabaseError``.
    func keep(_ name: String, _ ledger: EntitlementLedger) throws {
      guard let facts = ledger.withdrawals else { return }
      var sealed: [UInt8] = []
      var cipher = AES256GCM()
      cipher.seal(
        facts.encoded().span, key: try key(of: name), nonce: Random.bytes(AES256GCM.nonceByteCount).span,
        into: &sealed)
      try session.run(
        """
        INSERT INTO withdrawals(app, purchase, facts) VALUES (?1, ?2, ?3)
        ON CONFLICT(app, purchase) DO UPDATE SET facts = excluded.facts
        """, .text(app), .bytes(try purchase(name)), .bytes(sealed))
    }

    /// The facts that were kept of a purchase.
    ///
    /// - Throws: ``DatabaseError`` with `unusable` if it cannot be read: the purchase must not be granted then.
    func facts(of name: String) throws -> EntitlementLedger? {
      let rows = try session.run(
        "SELECT facts FROM withdrawals WHERE app = ?1 AND purchase = ?2", .text(app),
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
