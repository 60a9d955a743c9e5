// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification

  /// A verification for an app under one of its policies: local checks, checkers, recording.
  struct Verification: Sendable {
    let app: ServedApp
    let policy: ServedPolicy
    var recording: RecordingOptions
    let entitlements: ServiceEntitlements
    /// The customer who presents the receipt, recorded if the receipt does not name one.
    var presenter: String?
    /// A Boolean value that indicates whether the service's own ledger is asked after the local checks.
    var consultsLedger: Bool

    typealias Outcome = (verdict: Verdict, acknowledgement: AuditAcknowledgement?)

    /// Creates the verification for an app.
    ///
    /// - Throws: ``Problem`` if the app does not have the policy.
    init(
      _ app: ServedApp, policy name: String?, customer: String?, _ entitlements: ServiceEntitlements
    ) throws {
      guard let policy = app.policies[name ?? AppConfiguration.defaultPolicy] else {
        let names = app.policies.keys.sorted().joined(separator: ", ")
        throw Problem.invalid("policy", "The app has no such policy; it has: \(names).")
      }
      self.app = app
      self.policy = policy
      self.entitlements = entitlements
      recording = app.configuration.recording
      recording.customer = customer
      consultsLedger = app.configuration.consultsLedger
    }

    /// Creates the verification that a request asks for.
    init(for call: AuthenticatedRequest, _ entitlements: ServiceEntitlements) throws {
      try self.init(
        try call.app(), policy: try call.request.queryParameter("policy"),
        customer: try call.request.queryParameter("customer"), entitlements)
    }

    /// Verifies one receipt.
    ///
    /// If the app records verdicts, the verdict is recorded when this returns. Count it when it is answered.
    ///
    /// - Parameters:
    ///   - body: The receipt.
    ///   - isRecorded: `false` if nothing is recorded, as for a person who only looks at a receipt.
    /// - Returns: The verdict, and the acknowledgement of its entry, if it was recorded.
    /// - Throws: `AuditError`. The verdict must not be answered then.
    func verdict(on body: [UInt8], isRecorded: Bool = true) async throws -> Outcome {
      let bytes = ReceiptInputText.stripped(body)
      let verdict = await consulted([policy.verifier.verify(bytes)])[0]
      guard isRecorded else { return (verdict, nil) }
      return (verdict, try await Self.record([(self, verdict, bytes)])?.first)
    }

    /// Asks the service's own ledger about a receipt, whether or not the app's settings demand that for verdicts.
    ///
    /// - Throws: ``DatabaseError``.
    func consultingLedger(_ verdict: Verdict) async throws -> Verdict {
      guard let receipt = verdict.signatureVerified else { return verdict }
      let known = try await entitlements.knownPurchases(of: [receipt], app: app.name)
      let checker = LedgerChecker(known: known, clock: entitlements.clock)
      return await policy.verifier.consult([checker], about: [verdict], concurrently: false)[0]
    }

    /// `true` if the verdict depends only on the receipt, and need not be recorded.
    var isImmediate: Bool { policy.recorder == nil && !consultsLedger && app.configuration.checkers.isEmpty }

    /// Asks the checkers about receipts that were verified locally: the ledger about all of them at once, then the
    /// stores.
    func consulted(_ verdicts: [Verdict]) async -> [Verdict] {
      let stores = app.configuration.checkers
      guard consultsLedger || !stores.isEmpty else { return verdicts }
      var checkers = stores
      if consultsLedger {
        let receipts = verdicts.compactMap(\.signatureVerified)
        let known = try? await entitlements.knownPurchases(of: receipts, app: app.name)
        checkers.insert(LedgerChecker(known: known, clock: entitlements.clock), at: 0)
      }
      return await policy.verifier.consult(checkers, about: verdicts, concurrently: !stores.isEmpty)
    }

    /// Verifies receipts, records their verdicts together, and passes them to a closure.
    ///
    /// The closure runs on a worker thread. If nothing needs to be recorded or checked remotely, it is the thread that
    /// has verified the receipts, while they are in its core's cache.
    ///
    /// - Throws: `AuditError`. The verdicts must not be answered then.
    func verdicts<Result: Sendable>(
      on receipts: [[UInt8]],
      _ use: @escaping @Sendable ([Verdict], [AuditAcknowledgement]?) -> Result
    ) async throws -> Result {
      guard !isImmediate else {
        return await Workers.run {
          let verdicts = policy.verifier.verifyTogether(receipts[...])
          count(verdicts)
          return use(verdicts, nil)
        }
      }
      let verdicts = await consulted(
        await Workers.run { policy.verifier.verifyTogether(receipts[...]) })
      let acknowledgements = try await Self.record(zip(verdicts, receipts).map { (self, $0, $1) })
      count(verdicts)
      return await Workers.run { use(verdicts, acknowledgements) }
    }

    /// Counts answered verdicts; one that could not be recorded is not answered, and not counted.
    func count(_ verdicts: [Verdict]) { VerdictMetrics.record(verdicts, app: app.name) }

    /// Records verdicts under one policy together with the facts of their receipts, each with the options of its own
    /// verification, and returns the acknowledgement of each.
    ///
    /// It waits while the trail is busy.
    static func record(
      _ verdicts: [(Verification, Verdict, [UInt8])]
    ) async throws -> [AuditAcknowledgement]? {
      guard let first = verdicts.first?.0, let (log, digest) = first.policy.recorder else { return nil }
      let now = first.entitlements.clock()
      var aliases: Set<CustomerAlias> = []
      let groups = verdicts.map { verification, verdict, receipt in
        let (records, others) = verification.records(of: verdict, on: receipt, policy: digest, at: now)
        aliases.formUnion(others)
        return records
      }
      try await first.entitlements.note(aliases)
      return try await log.append(groups: groups)
    }

    /// The records of a verdict, and aliases for the accounts in the receipt that differ from the recorded customer.
    ///
    /// An erasure must find every record that contains the erased name.
    private func records(
      of verdict: Verdict, on receipt: [UInt8], policy digest: SHA256Digest, at time: Timestamp
    ) -> (records: [AuditRecord], aliases: [CustomerAlias]) {
      let genuine = verdict.signatureVerified
      let account = genuine?.appAccountToken
      var recording = recording
      // If a genuine receipt names an account, that is recorded without this option.
      recording.customer = recording.customer ?? (account == nil ? presenter : nil)
      var records = [AuditRecord](
        verdict, receipt: receipt, policyDigest: digest, at: time, options: recording)
      var accounts = account.map { [RecordingOptions.canonicalCustomer($0)] } ?? []
      // A receipt that is not genuine may name any number of accounts.
      if genuine == nil, let kept = records.first?.receiptBytes {
        accounts = ReceiptNames.accounts(in: kept)
        records[0].customerToken = records[0].customerToken ?? accounts.first
      }
      guard let customer = records.first?.customerToken else { return (records, []) }
      let others = accounts.filter { $0 != customer }
      return (records, others.map { CustomerAlias(app: app.name, account: $0, customer: customer) })
    }

    /// The JSON object of the answer, the same as that of `receipt-tool verify --json`.
    func report(_ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?) -> JSONWriter {
      var writer = JSONWriter()
      write(verdict, acknowledgement, to: &writer)
      return writer
    }

    func write(
      _ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?, index: Int? = nil,
      to writer: inout JSONWriter
    ) {
      writer.beginObject(type: "verdict")
      if let index { writer.member("index", Int64(index)) }
      verdict.write(to: &writer, at: entitlements.clock())
      if let acknowledgement {
        writer.member("entry", acknowledgement.index)
        writer.member("repeated", acknowledgement.isRepeat)
      }
      writer.endObject()
    }
  }
#endif
