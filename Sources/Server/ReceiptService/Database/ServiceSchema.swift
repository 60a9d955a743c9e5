// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import SQLite

  /// The tables of a service's database.
  ///
  /// Times are milliseconds since 1970.
  enum ServiceSchema {
    /// The statements of each version, which upgrade the previous version to it.
    private static func versions(_ dialect: SQLDialect) -> [[String]] {
      let (bytes, sequence) = (dialect.bytes, dialect.sequence)
      return [
        [
          // The processed notifications of stores. key: see ServiceEntitlements.record.
          """
          CREATE TABLE notifications(
            app TEXT NOT NULL, key \(bytes) NOT NULL, received BIGINT NOT NULL, PRIMARY KEY(app, key))
          """,
          // A ledger for each original transaction, purchase token or customer whose consent was rescinded, with the
          // name and the identifier of EntitlementLedger.Part. snapshot: the last reported state, evaluated at the
          // instant `evaluated`. next_change: the time of the next change without a notification. heard: the time of
          // the store's last message. reconcile: the time at which to ask the store.
          """
          CREATE TABLE ledgers(
            app TEXT NOT NULL, name TEXT NOT NULL, identifier TEXT NOT NULL, customer TEXT, ledger \(bytes) NOT NULL,
            snapshot \(bytes), evaluated BIGINT NOT NULL, next_change BIGINT, heard BIGINT NOT NULL, reconcile BIGINT,
            PRIMARY KEY(app, name))
          """,
          "CREATE INDEX ledgers_customer ON ledgers(app, customer)",
          "CREATE INDEX ledgers_identifier ON ledgers(app, identifier)",
          "CREATE INDEX ledgers_next_change ON ledgers(next_change)",
          "CREATE INDEX ledgers_reconcile ON ledgers(reconcile)",
          // The changes of entitlements. Those of one app are in the order of the commits. body: the JSON of webhooks
          // and server-sent events. previous_customer: the customer who had the entitlement before, if that changed.
          """
          CREATE TABLE changes(
            \(sequence), id TEXT NOT NULL UNIQUE, app TEXT NOT NULL, name TEXT NOT NULL, customer TEXT,
            previous_customer TEXT, time BIGINT NOT NULL, type TEXT NOT NULL, body \(bytes) NOT NULL)
          """,
          "CREATE INDEX changes_app ON changes(app, sequence)",
          "CREATE INDEX changes_name ON changes(app, name)",
          "CREATE INDEX changes_customer ON changes(app, customer)",
          "CREATE INDEX changes_previous_customer ON changes(app, previous_customer)",
          // Changes that are not delivered to an endpoint yet. state: 0 waiting, 1 dead.
          """
          CREATE TABLE deliveries(
            app TEXT NOT NULL, endpoint TEXT NOT NULL, change BIGINT NOT NULL, lane TEXT NOT NULL,
            state BIGINT NOT NULL, attempts BIGINT NOT NULL, error TEXT, PRIMARY KEY(app, endpoint, change))
          """,
          "CREATE INDEX deliveries_lane ON deliveries(app, endpoint, lane, state, change)",
          "CREATE INDEX deliveries_change ON deliveries(change)",
          "CREATE INDEX deliveries_state ON deliveries(app, endpoint, state, change)",
          // The lanes of an endpoint with waiting deliveries, which are delivered one at a time, in order. leased: the
          // end of the lease that a process holds.
          """
          CREATE TABLE lanes(
            app TEXT NOT NULL, endpoint TEXT NOT NULL, lane TEXT NOT NULL, due BIGINT NOT NULL,
            leased BIGINT NOT NULL, PRIMARY KEY(app, endpoint, lane))
          """,
          "CREATE INDEX lanes_due ON lanes(app, endpoint, due)",
          // Keys of the API. hash: SHA-256 of the secret. app: the app that the key is confined to, or empty for all
          // apps.
          """
          CREATE TABLE api_keys(
            id TEXT PRIMARY KEY, name TEXT NOT NULL, app TEXT NOT NULL, scopes TEXT NOT NULL, hash \(bytes) NOT NULL,
            created BIGINT NOT NULL, revoked BIGINT)
          """,
          // Logins of the console. hash: SHA-256 of the cookie.
          """
          CREATE TABLE sessions(
            hash \(bytes) PRIMARY KEY, key TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL)
          """,
          // The actions of administrators.
          """
          CREATE TABLE administrative_acts(
            \(sequence), time BIGINT NOT NULL, actor TEXT NOT NULL, act TEXT NOT NULL,
            details TEXT NOT NULL)
          """,
          // Work that only one process does at a time.
          "CREATE TABLE leases(name TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)",
          // Jobs that must be completed, such as erasures. body: the work to do, as JSON.
          """
          CREATE TABLE jobs(
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, app TEXT NOT NULL, created BIGINT NOT NULL, due BIGINT NOT NULL,
            state BIGINT NOT NULL, attempts BIGINT NOT NULL, body \(bytes) NOT NULL, result \(bytes))
          """,
          "CREATE INDEX jobs_due ON jobs(state, due)",
        ],
        // The trace of the request that caused a change: see TraceHeaders.
        ["ALTER TABLE changes ADD COLUMN trace TEXT"],
        // Indexes for the removal of old rows.
        [
          "CREATE INDEX notifications_received ON notifications(received)",
          "CREATE INDEX changes_time ON changes(time)",
        ],
        // Unfinished erasures. id: the digest of app and customer. customer: set until the rows are deleted. leased:
        // the end of the lease that a process holds. The two tables that are dropped were never used.
        [
          "DROP TABLE leases", "DROP TABLE jobs",
          """
          CREATE TABLE erasures(
            id TEXT PRIMARY KEY, app TEXT NOT NULL, customer TEXT, actor TEXT NOT NULL, leased BIGINT NOT NULL,
            purchases BIGINT NOT NULL, entries BIGINT NOT NULL)
          """,
        ],
        [
          // previous_lane: the lane of the customer who had the entitlement before, since a transfer waits for both
          // lanes. lanes.noted: the time at which due and leased were set, which shows whether the clock was ahead
          // then.
          "ALTER TABLE deliveries ADD COLUMN previous_lane TEXT",
          "CREATE INDEX deliveries_previous_lane ON deliveries(app, endpoint, previous_lane, state, change)",
          // No default: the expression of a default could be changed in the database.
          "ALTER TABLE lanes ADD COLUMN noted BIGINT", "UPDATE lanes SET noted = 0",
          // The number of times that the store was asked since the ledger was last stored, for example after a message
          // of the store.
          "ALTER TABLE ledgers ADD COLUMN questions BIGINT", "UPDATE ledgers SET questions = 0",
          "CREATE INDEX ledgers_evaluated ON ledgers(evaluated)",
          "DROP INDEX ledgers_reconcile",
          "CREATE INDEX ledgers_app_reconcile ON ledgers(app, reconcile)",
          // Random keys of this database: see ServiceSecret.
          "CREATE TABLE secrets(name TEXT PRIMARY KEY, secret \(bytes) NOT NULL)",
          // Refunds and revocations of purchases, which are kept when the customer is erased: see Withdrawals.
          """
          CREATE TABLE withdrawals(
            app TEXT NOT NULL, purchase \(bytes) NOT NULL, facts \(bytes) NOT NULL, PRIMARY KEY(app, purchase))
          """,
          // The latest removed change of an app. A reader who has read up to it must not be mistaken for one beyond the
          // end.
          "CREATE TABLE removed_changes(app TEXT PRIMARY KEY, sequence BIGINT NOT NULL)",
          // The accounts in receipts that were recorded under another name of the same customer.
          """
          CREATE TABLE customer_aliases(
            app TEXT NOT NULL, account TEXT NOT NULL, customer TEXT NOT NULL, PRIMARY KEY(app, account, customer))
          """,
          "CREATE INDEX customer_aliases_customer ON customer_aliases(app, customer)",
        ],
        // holder: the store's own identifier of the customer, which the store signs: the app transaction.
        [
          "ALTER TABLE ledgers ADD COLUMN holder TEXT",
          "CREATE INDEX ledgers_holder ON ledgers(app, holder)",
        ],
        // shares: the customers who share a purchase of another one (see TransferRule.share). ledgers.kind: the kind of
        // parts that are listed by it, such as refund reviews. ledgers.purchase: the name of the part with the purchase
        // that a part is about.
        [
          "ALTER TABLE ledgers ADD COLUMN kind TEXT", "ALTER TABLE ledgers ADD COLUMN purchase TEXT",
          "CREATE INDEX ledgers_kind ON ledgers(app, kind, heard)",
          "CREATE INDEX ledgers_purchase ON ledgers(app, purchase)",
          """
          CREATE TABLE shares(
            app TEXT NOT NULL, name TEXT NOT NULL, customer TEXT NOT NULL, PRIMARY KEY(app, name, customer))
          """,
          "CREATE INDEX shares_customer ON shares(app, customer)",
        ],
        [
          // The notifications of stores that are not forwarded yet. Those of one app are in the order of the commits.
          """
          CREATE TABLE forwards(
            \(sequence), app TEXT NOT NULL, received BIGINT NOT NULL, content_type TEXT, push_authorization TEXT,
            body \(bytes) NOT NULL)
          """,
          "CREATE INDEX forwards_app ON forwards(app, sequence)",
          // What a waiting notification is about: see ForwardedNotification.
          """
          CREATE TABLE forward_subjects(
            app TEXT NOT NULL, subject TEXT NOT NULL, forward BIGINT NOT NULL, PRIMARY KEY(app, subject, forward))
          """,
          "CREATE INDEX forward_subjects_forward ON forward_subjects(forward)",
          // The state of an app's first waiting notification. due: the time of the next attempt. leased: the end of the
          // lease that a process holds. noted: the time at which both were set, which shows whether the clock was ahead
          // then.
          """
          CREATE TABLE forward_queues(
            app TEXT PRIMARY KEY, due BIGINT NOT NULL, leased BIGINT NOT NULL, noted BIGINT NOT NULL,
            attempts BIGINT NOT NULL, error TEXT)
          """,
          // The progress of imports. input: the SHA-256 of the input. line, position: the lines and bytes that are done.
          // finished: the time at which the last line was done.
          """
          CREATE TABLE imports(
            app TEXT NOT NULL, input \(bytes) NOT NULL, line BIGINT NOT NULL, position BIGINT NOT NULL,
            imported BIGINT NOT NULL, failed BIGINT NOT NULL, started BIGINT NOT NULL, finished BIGINT,
            PRIMARY KEY(app, input))
          """,
        ],
        [
          // The deliveries that webhook endpoints took. time: the time at which the endpoint took the change last.
          """
          CREATE TABLE delivered(
            app TEXT NOT NULL, endpoint TEXT NOT NULL, change BIGINT NOT NULL, time BIGINT NOT NULL,
            PRIMARY KEY(app, endpoint, change))
          """,
          "CREATE INDEX delivered_change ON delivered(change)",
        ],
      ]
    }

    /// The current version of this build.
    static let version = Int64(versions(.sqlite).count)

    /// The tables with personal data, whose rows are deleted when a person is erased.
    static let personalTables: Set<String> = [
      "ledgers", "changes", "deliveries", "lanes", "erasures", "customer_aliases", "shares", "forwards",
      "forward_subjects",
    ]

    /// The SQLite layout of a version.
    static func layout(applicationID: Int64, version: Int64) -> DatabaseLayout {
      DatabaseLayout(
        applicationID: applicationID, version: version, statements: statements(of: version, .sqlite))
    }

    /// The statements that create the tables of a version.
    static func statements(of version: Int64, _ dialect: SQLDialect) -> [String] {
      Array(versions(dialect).prefix(Int(version)).joined())
    }

    /// Changes the tables and rows of a database from an earlier version to that of this build.
    ///
    /// The caller also stores the version in the transaction.
    static func upgrade(_ session: any DatabaseSession, version: Int64) throws {
      for statement in versions(session.dialect)[Int(version)...].joined() { try session.run(statement) }
      if version < keyedDigests {
        try ServiceSecret.create(in: session)
        try ErasureQueue.keyDigests(in: session)
      }
      if version < holders { try LedgerRows.noteHolders(in: session) }
    }

    /// The version since which digests of customers are keyed.
    private static let keyedDigests = 5
    /// The version since which ledgers are found by their holders.
    private static let holders = 6
  }
#endif
