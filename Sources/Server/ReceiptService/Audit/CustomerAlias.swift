// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail

  extension ServiceEntitlements {
    /// Stores aliases that are not stored yet, before the receipts are recorded.
    ///
    /// If it throws, the receipts must not be recorded under the other name.
    func note(_ aliases: Set<CustomerAlias>) async throws {
      guard !aliases.isEmpty else { return }
      let new = try await database.read { session in
        try aliases.filter { alias in
          try !session.hasRows(
            "SELECT 1 FROM customer_aliases WHERE app = $1 AND account = $2 AND customer = $3",
            .text(alias.app), .text(alias.account), .text(alias.customer))
        }
      }
      guard !new.isEmpty else { return }
      try await database.write { session in
        for alias in new {
          try session.run(
            """
            INSERT INTO customer_aliases(app, account, customer) VALUES ($1, $2, $3)
            ON CONFLICT(app, account, customer) DO NOTHING
            """, .text(alias.app), .text(alias.account), .text(alias.customer))
        }
      }
    }

    /// The names under which the receipts of an account are recorded.
    func aliases(of account: String, app: String) async throws -> [String] {
      try await database.rows(
        "SELECT customer FROM customer_aliases WHERE app = $1 AND account = $2 ORDER BY customer",
        .text(app), .text(account)
      ).map { $0.text(0) }
    }
  }
#endif
