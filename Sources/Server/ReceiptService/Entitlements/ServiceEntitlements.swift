// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import Entitlements
  package import ReceiptCodec
  package import ReceiptVerification

  /// The entitlements of each app's customers and their history, in the service's database.
  ///
  /// New facts, the resulting changes and the webhooks that report the changes are stored in one commit. Any number of
  /// processes may use one database.
  package struct ServiceEntitlements: Sendable {
    /// The database.
    package let database: any ServiceDatabase
    /// Signals the changes that this process committed.
    package let commits: CommitSignal
    /// The signals of the changes of each app.
    private let appCommits: [String: CommitSignal]
    /// The time after which the store is asked about a renewal that was due but not reported.
    package let silence: Duration
    let clock: @Sendable () -> Timestamp
    private let endpoints: [String: [String]]

    /// Creates the entitlements of a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - apps: The apps, with the names of their webhook endpoints.
    ///   - silence: The time after which the store is asked about a renewal that was due but not reported; a day by
    ///     default.
    ///   - clock: The current time.
    package init(
      database: any ServiceDatabase, apps: [AppConfiguration], silence: Duration = .seconds(86_400),
      clock: @escaping @Sendable () -> Timestamp = { SteadyClock.shared.now() }
    ) {
      self.database = database
      self.commits = CommitSignal()
      self.silence = silence
      self.clock = clock
      appCommits = Dictionary(apps.map { ($0.name, CommitSignal()) }) { first, _ in first }
      endpoints = Dictionary(apps.map { ($0.name, $0.webhooks.map(\.name)) }) { first, _ in first }
    }

    /// The signal of the changes of one app that this process committed; that of all apps if the app is not in the
    /// configuration.
    func commits(of app: String) -> CommitSignal { appCommits[app] ?? commits }

    private func signal(_ apps: some Sequence<String>) {
      for app in apps { appCommits[app]?.signal() }
      commits.signal()
    }

    // MARK: Recording facts

    /// Records a notification as processed, and merges its facts.
    ///
    /// When this returns, both are on disk.
    ///
    /// - Returns: `false` if it was recorded before. Nothing changes then.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func record(_ notification: AppStoreNotification, app: String) async throws -> Bool {
      var change = EntitlementLedger()
      change.apply(notification)
      return try await record(key: notification.recordedKey, change, app: app)
    }

    /// Records a message of Google Play as processed, and merges the new facts.
    ///
    /// See ``record(_:app:)``.
    @discardableResult
    package func record(
      messageId: String, _ change: EntitlementLedger, app: String
    ) async throws -> Bool {
      try await record(key: Self.key(messageId: messageId), change, app: app)
    }

    /// Returns `true` if a message of Google Play was processed before.
    package func isRecorded(messageId: String, app: String) async throws -> Bool {
      try await database.read { session in
        try !session.run(
          "SELECT 1 FROM notifications WHERE app = $1 AND key = $2", .text(app),
          .bytes(Self.key(messageId: messageId))
        ).isEmpty
      }
    }

    /// The key of a message, which begins with a zero byte.
    ///
    /// A key of the App Store does so only if its digest happens to.
    private static func key(messageId: String) -> [UInt8] { [0] + Array(messageId.utf8) }

    private func record(key: [UInt8], _ change: EntitlementLedger, app: String) async throws -> Bool {
      let now = clock()
      let trace = TraceHeaders.stored
      let count: Int? = try await database.write { session in
        // This waits for another transaction that records the same notification.
        let recorded = try session.run(
          """
          INSERT INTO notifications(app, key, received) VALUES ($1, $2, $3)
          ON CONFLICT(app, key) DO NOTHING RETURNING received
          """, .text(app), .bytes(key), .integer(now.milliseconds))
        guard !recorded.isEmpty else { return nil }
        return try fold(app, now, trace, in: session).merge(change, customer: nil, heard: now)
      }
      if let count, count > 0 { signal([app]) }
      return count != nil
    }

    /// Merges a purchase that a customer presented as a verified signed transaction.
    ///
    /// - Parameters:
    ///   - receipt: The transaction.
    ///   - customer: The customer who presented it. It is used if the transaction names no customer; otherwise both
    ///     must be equal.
    ///   - app: The app.
    /// - Returns: The original transaction.
    /// - Throws: `EntitlementError` for receipts of other kinds; ``PresentedByAnother`` if the transaction names
    ///   another customer; ``DatabaseError``.
    @discardableResult
    package func merge(
      _ receipt: VerifiedReceipt, customer: String?, app: String
    ) async throws -> Entitlement.ID {
      var change = EntitlementLedger()
      let id = try change.apply(transaction: receipt)
      try await merge(change, customer: customer, heard: receipt.signedAt, app: app)
      return id
    }

    /// Merges the answer of a store, or the facts of a presented receipt.
    ///
    /// - Parameters:
    ///   - change: The new facts.
    ///   - customer: The customer who presented them. It is used if a purchase names no customer; otherwise both must
    ///     be equal.
    ///   - heard: The time of the store's message; the current time by default.
    ///   - app: The app.
    /// - Returns: The number of reported changes.
    /// - Throws: ``DatabaseError``; ``PresentedByAnother``.
    @discardableResult
    package func merge(
      _ change: EntitlementLedger, customer: String? = nil, heard: Timestamp? = nil, app: String
    ) async throws -> Int {
      let customer = customer.map(RecordingOptions.canonicalCustomer)
      let now = clock()
      if heard != nil, try await isKnown(change, customer: customer, app: app) { return 0 }
      let trace = TraceHeaders.stored
      let count = try await database.write { session in
        try fold(app, now, trace, in: session).merge(
          change, customer: customer, heard: min(heard ?? now, now))
      }
      if count > 0 { signal([app]) }
      return count
    }

    /// Returns `true` if merging would change nothing.
    ///
    /// That is so for most receipts, which are presented repeatedly.
    private func isKnown(_ change: EntitlementLedger, customer: String?, app: String) async throws -> Bool {
      let parts = change.parts
      return try await database.read { session in
        try parts.allSatisfy { part in
          guard let stored = try StoredLedger(app: app, name: part.name, in: session) else { return false }
          var merged = stored.ledger
          merged.merge(part.ledger)
          guard merged == stored.ledger else { return false }
          if let customer, let stated = EntitlementSnapshot.statedCustomer(merged), stated != customer {
            throw PresentedByAnother()
          }
          return try EntitlementSnapshot(merged, customer: customer ?? stored.customer, at: stored.evaluated)?
            .customer == stored.customer
        }
      }
    }

    // MARK: Changes due to time

    /// Stores the changes that are due to the passage of time, such as the expiry of a subscription.
    ///
    /// - Parameters:
    ///   - instant: The present instant; `nil` reads the clock.
    ///   - limit: The number of entitlements to examine in one transaction.
    /// - Returns: The number of examined entitlements; `limit` if there may be more.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func expireDue(at instant: Timestamp? = nil, limit: Int = 100) async throws -> Int {
      let now = instant ?? clock()
      return try await reevaluate("next_change <= $1 ORDER BY next_change", now, at: now, limit: limit)
    }

    /// Evaluates entitlements again that were evaluated at a future instant, because a clock was ahead.
    ///
    /// The resulting changes, for example that a subscription has not expired after all, are reported.
    ///
    /// - Parameter limit: The number of entitlements to examine in one transaction.
    /// - Returns: The number of examined entitlements; `limit` if there may be more.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    func correct(limit: Int = 100) async throws -> Int {
      let now = clock()
      return try await reevaluate(
        "evaluated > $1 ORDER BY evaluated", now.addingSeconds(ClockCheck.tolerance), at: now, limit: limit)
    }

    private func reevaluate(
      _ condition: String, _ instant: Timestamp, at now: Timestamp, limit: Int
    ) async throws -> Int {
      let due: @Sendable (any DatabaseSession) throws -> [(app: String, name: String)] = { session in
        try session.run(
          "SELECT app, name FROM ledgers WHERE \(condition) LIMIT $2", .integer(instant.milliseconds),
          .integer(Int64(limit))
        ).map { ($0.text(0), $0.text(1)) }
      }
      guard try await !database.read({ session in try due(session).isEmpty }) else { return 0 }
      let (looked, told) = try await database.write { session in
        let names = try due(session).sorted(by: <)
        try EntitlementFold.lock(names, in: session)
        let told = try names.filter { app, name in try fold(app, now, nil, in: session).reevaluate(name) }
        return (names.count, Set(told.map(\.app)))
      }
      if !told.isEmpty { signal(told) }
      return looked
    }

    private func fold(
      _ app: String, _ now: Timestamp, _ trace: String?, in session: any DatabaseSession
    ) -> EntitlementFold {
      EntitlementFold(
        session: session, app: app, endpoints: endpoints[app] ?? [], now: now, silence: silence, trace: trace)
    }
  }
#endif
