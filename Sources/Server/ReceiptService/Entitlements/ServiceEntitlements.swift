// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import Entitlements
  internal import ReceiptBytes
  package import ReceiptCodec
  package import ReceiptVerification

  /// The entitlements of each app's customers and their history, in the service's database.
  ///
  /// New facts, the resulting changes and the webhooks that report the changes are stored in one commit. Any number of
  /// processes may use one database.
  package struct ServiceEntitlements: Sendable {
    package let database: any ServiceDatabase
    /// Signals the changes that this process committed.
    package let commits: CommitSignal
    /// The signals of the changes of each app.
    private let appCommits: [String: CommitSignal]
    /// The time after which the store is asked about a renewal that was due but not reported.
    package let silence: Duration
    let clock: @Sendable () -> Timestamp
    private let configurations: [String: AppConfiguration]

    package init(
      database: any ServiceDatabase, apps: [AppConfiguration], silence: Duration = .seconds(86_400),
      clock: @escaping @Sendable () -> Timestamp = { SteadyClock.shared.now() }
    ) {
      self.database = database
      self.commits = CommitSignal()
      self.silence = silence
      self.clock = clock
      appCommits = Dictionary(apps.map { ($0.name, CommitSignal()) }) { first, _ in first }
      configurations = Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The signal of the changes of one app that this process committed; that of all apps if the app is not in the
    /// configuration.
    func commits(of app: String) -> CommitSignal { appCommits[app] ?? commits }

    /// What an app promises its customers; nothing if it is not in the configuration.
    func terms(of app: String) -> EntitlementTerms {
      var terms = EntitlementTerms()
      guard let app = configurations[app] else { return terms }
      terms.entitlements = app.entitlements
      terms.rules = app.entitlementRules
      terms.transfers = app.transfers
      return terms
    }

    func signal(_ apps: some Sequence<String>) {
      for app in apps { appCommits[app]?.signal() }
      commits.signal()
    }

    // MARK: Recording facts

    /// Records a message of a store as processed, and merges its facts.
    ///
    /// When this returns, both are on disk, and so is the notification if the app's notifications are forwarded.
    ///
    /// - Returns: `false` if it was recorded before. Nothing changes then.
    @discardableResult
    func record(
      key: [UInt8], _ change: EntitlementLedger, app: String, forwarding delivery: StoreDelivery? = nil
    ) async throws -> Bool {
      let now = clock()
      let trace = TraceHeaders.stored
      let isForwarded = configurations[app]?.forwarding != nil
      let forwarded = isForwarded ? delivery.map { ForwardedNotification($0, about: change) } : nil
      let count = try await database.write { session in
        let count = try store(app, now, trace, in: session).record(key, change)
        // Last, because all transactions of the app wait for its lock.
        if count != nil, let forwarded {
          try ForwardingQueue.enter(forwarded, app: app, at: now, in: session)
        }
        return count
      }
      guard let count else { return false }
      if count > 0 {
        signal([app])
      } else if forwarded != nil {
        commits.signal()
      }
      return true
    }

    /// Merges a purchase that a customer presented as a verified signed transaction, and returns the original
    /// transaction.
    ///
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

    /// Grants a customer, if one is named, the purchase of a receipt that they presented, and returns the original
    /// transaction; `nil` if a receipt of this kind grants nothing.
    ///
    /// - Throws: The errors of ``merge(_:customer:app:)``; ``PresentedByAnother`` if the receipt names another customer.
    func present(
      _ receipt: VerifiedReceipt, for customer: String?, app: String
    ) async throws -> Entitlement.ID? {
      if let customer, let named = receipt.appAccountToken,
        !UTF8Text.isIdentical(
          RecordingOptions.canonicalCustomer(named), RecordingOptions.canonicalCustomer(customer))
      {
        throw PresentedByAnother()
      }
      guard receipt.kind == .signedTransaction else { return nil }
      return try await merge(receipt, customer: customer, app: app)
    }

    /// Merges the answer of a store, or the facts of a presented receipt, and returns the number of reported changes.
    ///
    /// If a purchase names a customer, it must be the one who presented it, if any.
    ///
    /// - Throws: ``DatabaseError``; ``PresentedByAnother``.
    @discardableResult
    package func merge(
      _ change: EntitlementLedger, customer: String? = nil, heard: Timestamp? = nil, app: String
    ) async throws -> Int {
      let customer = customer.map(RecordingOptions.canonicalCustomer)
      let now = clock()
      if heard != nil,
        try await database.read({ session in
          try store(app, now, nil, in: session).isKnown(change, customer: customer)
        })
      {
        return 0
      }
      let trace = TraceHeaders.stored
      let count = try await database.write { session in
        try store(app, now, trace, in: session).merge(
          change, customer: customer, heard: min(heard ?? now, now))
      }
      if count > 0 { signal([app]) }
      return count
    }

    /// A change of a part that a person makes: the facts to merge, and the act to record, if it is one.
    typealias ManualChange = (
      facts: EntitlementLedger, act: (kind: String, details: String, actor: String)?
    )

    /// Changes a part under its lock, and records the act, in one commit.
    ///
    /// - Parameters:
    ///   - name: The name of the part.
    ///   - app: The app.
    ///   - change: Returns the change of the stored part, which is `nil` if there is none; `nil` for no change.
    /// - Returns: `true` if there was something to change.
    /// - Throws: ``DatabaseError``; the errors of the closure.
    @discardableResult
    func change(
      _ name: String, app: String,
      _ change: @escaping @Sendable (EntitlementLedger?, Timestamp) throws -> ManualChange?
    ) async throws -> Bool {
      let trace = TraceHeaders.stored
      let isChanged = try await database.write { session in
        try LedgerRows.lock([(app, name)], in: session)
        let now = clock()
        guard let (facts, act) = try change(LedgerRows.ledger(name, app: app, in: session), now) else {
          return false
        }
        _ = try store(app, now, trace, in: session).merge(facts, customer: nil, heard: now)
        if let act {
          try AdministrativeAct.record(
            act.kind, act.details, by: act.actor, at: now.milliseconds, in: session)
        }
        return true
      }
      if isChanged { signal([app]) }
      return isChanged
    }

    // MARK: Changes due to time

    /// Stores the changes that are due to the passage of time, such as the expiry of a subscription.
    ///
    /// - Returns: The number of examined entitlements; `limit` if there may be more.
    @discardableResult
    package func expireDue(at instant: Timestamp? = nil, limit: Int = 100) async throws -> Int {
      let now = instant ?? clock()
      return try await reevaluate("next_change <= $1 ORDER BY next_change", now, at: now, limit: limit)
    }

    /// Evaluates entitlements again that were evaluated at a future instant, because a clock was ahead.
    ///
    /// The resulting changes, for example that a subscription has not expired after all, are reported.
    ///
    /// - Returns: The number of examined entitlements; `limit` if there may be more.
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
        try LedgerRows.lock(names, in: session)
        let told = try names.filter { app, name in try store(app, now, nil, in: session).reevaluate(name) }
        return (names.count, Set(told.map(\.app)))
      }
      if !told.isEmpty { signal(told) }
      return looked
    }

    func store(
      _ app: String, _ now: Timestamp, _ trace: String?, in session: any DatabaseSession
    ) -> LedgerStore<LedgerRows> {
      LedgerStore(
        in: LedgerRows(
          session: session, app: app, endpoints: configurations[app]?.webhooks.map(\.name) ?? [],
          sharing: configurations[app]?.transfers == .share, now: now, trace: trace), app: app,
        under: terms(of: app), at: now, silence: silence,
        clockTolerance: ClockCheck.tolerance)
    }
  }
#endif
