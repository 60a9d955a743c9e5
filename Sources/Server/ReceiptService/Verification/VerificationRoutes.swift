// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptInspection
  internal import ReceiptVerification

  extension ReceiptAPI {
    static let policyParameter = Route.Parameter.query(
      "policy", .text, "The policy, by its name in the configuration; \"default\" without.")
    static let appParameter = Route.Parameter.query(
      "app", .text, "The app, by its name, for keys that are not confined to one.")
    static let customerParameter = Route.Parameter.query(
      "customer", .text,
      "Who presents the receipt, recorded in the erasable part of the audit trail; without, the account that the receipt names."
    )

    static let verificationPath = "/v1/verify"

    static let unsupported = (415, "The body is compressed, or a form.", ReceiptAPI.problem)

    var verificationRoutes: [Route] {
      [
        Route(
          method: .post, path: Self.verificationPath, operation: "verify", access: .key(.verify),
          summary: "Verifies a receipt of any kind.",
          parameters: [Self.policyParameter, Self.appParameter, Self.customerParameter],
          body: [
            .init(mediaType: "application/octet-stream", schema: "Receipt"),
            .init(mediaType: "application/json", schema: "WrappedReceipt"),
          ],
          answers: [
            (200, "The verdict, whatever it is.", [.init(mediaType: "application/json", schema: "verdict")]),
            Self.unsupported,
          ],
          respond: { [unowned self] in try await verify($0, $1) }),
        Route(
          method: .post, path: "/v1/verify/batch", operation: "verifyBatch", access: .key(.verify),
          summary:
            "Verifies a receipt a line, and answers a verdict a line, in the same order, while it still reads. Read the answer while you send.",
          parameters: [Self.policyParameter, Self.appParameter],
          body: [
            .init(mediaType: "application/octet-stream", schema: "Receipts"),
            .init(mediaType: "text/plain", schema: "Receipts"),
          ],
          answers: [
            (
              200, "The verdicts; as text/plain if the request accepts that alone.",
              [
                .init(mediaType: "application/jsonl", schema: "Verdicts"),
                .init(mediaType: "text/plain", schema: "Verdicts"),
              ]
            ), Self.unsupported,
          ],
          respond: { [unowned self] in try await verifyBatch($0, $1) }),
        Route(
          method: .post, path: "/v1/inspect", operation: "inspect", access: .key(.verify),
          summary: "Shows what is in a receipt, all of it unverified.",
          // One media type stands for all: openapi-python-client 0.29 generates no client for several media types
          // without a parameter.
          body: [.init(mediaType: "application/octet-stream", schema: "Receipt")],
          answers: [
            (200, "What is in it.", [.init(mediaType: "application/json", schema: "inspection")]),
            Self.unsupported, (422, "It is no receipt.", Self.problem),
          ],
          respond: { [unowned self] request, _ in
            let bytes = try await contentBody(of: request)
            do throws(MalformedReceipt) {
              let inspection = try Inspection(of: ReceiptInputText.stripped(bytes))
              var object = JSONWriter(type: "inspection")
              inspection.write(to: &object)
              object.endObject()
              return .json(object)
            } catch {
              throw Problem(
                .unprocessableContent, error.code.rawValue, error.message,
                at: error.place == .whole ? nil : error.place.description)
            }
          }),
      ]
    }

    /// The verification for a request.
    func verification(_ request: Request, _ principal: Principal?) throws -> Verification {
      try verification(
        try app(of: request, principal), policy: try queryParameter("policy", of: request),
        customer: try queryParameter("customer", of: request))
    }

    /// The verification for an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - name: The name of one of its policies; `nil` for the default.
    ///   - customer: The customer who presents the receipt.
    /// - Returns: The verification.
    /// - Throws: ``Problem`` if the app does not have the policy.
    func verification(_ app: ServedApp, policy name: String?, customer: String?) throws -> Verification {
      guard let policy = app.policies[name ?? AppConfiguration.defaultPolicy] else {
        let names = app.policies.keys.sorted().joined(separator: ", ")
        throw Problem.invalid("policy", "The app has no such policy; it has: \(names).")
      }
      var recording = app.configuration.recording
      recording.customer = customer
      return Verification(
        app: app, policy: policy, recording: recording, entitlements: entitlements, clock: clock)
    }

    private func verify(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let verification = try verification(request, context.principal)
      let bytes = try await contentBody(of: request)
      let (verdict, acknowledgement) = try await verification.verdict(on: bytes)
      verification.count([verdict])
      return .json(verification.report(verdict, acknowledgement))
    }
  }

  /// A verification for an app under one of its policies: local checks, checkers, recording.
  struct Verification: Sendable {
    let app: ServedApp
    let policy: ServedPolicy
    var recording: RecordingOptions
    let entitlements: ServiceEntitlements
    /// The customer who presents the receipt.
    ///
    /// It is recorded if the receipt does not name a customer.
    var presenter: String?
    let clock: @Sendable () -> Timestamp

    typealias Outcome = (verdict: Verdict, acknowledgement: AuditAcknowledgement?)

    /// Verifies one receipt.
    ///
    /// If the app records verdicts, the verdict is recorded when this returns. Count it when it is answered.
    ///
    /// - Throws: `AuditError`. The verdict must not be answered then.
    func verdict(on body: [UInt8]) async throws -> Outcome {
      let bytes = ReceiptInputText.stripped(body)
      let checkers = app.configuration.checkers
      let verdict =
        checkers.isEmpty
        ? policy.verifier.verify(bytes) : await policy.verifier.verify(bytes, checkers: checkers)
      return (verdict, try await record([(verdict, bytes)])?.first)
    }

    /// Verifies receipts, records their verdicts together, and passes them to a closure.
    ///
    /// The closure runs on a worker thread. If nothing needs to be recorded or checked remotely, it is the thread that
    /// has verified the receipts, while they are in its core's cache.
    ///
    /// - Parameters:
    ///   - receipts: The receipts.
    ///   - use: Receives the verdicts, in the order of the receipts, and their acknowledgements if the app records
    ///     verdicts.
    /// - Returns: The value that `use` returns.
    /// - Throws: `AuditError`. The verdicts must not be answered then.
    func verdicts<Result: Sendable>(
      on receipts: [[UInt8]],
      _ use: @escaping @Sendable ([Verdict], [AuditAcknowledgement]?) -> Result
    ) async throws -> Result {
      let checkers = app.configuration.checkers
      guard policy.recorder != nil || !checkers.isEmpty else {
        return await Workers.run {
          let verdicts = policy.verifier.verifyTogether(receipts[...])
          count(verdicts)
          return use(verdicts, nil)
        }
      }
      let verdicts =
        checkers.isEmpty
        ? await Workers.run { policy.verifier.verifyTogether(receipts[...]) }
        : await policy.verifier.verifyTogether(receipts, checkers: checkers)
      let acknowledgements = try await record(Array(zip(verdicts, receipts)))
      count(verdicts)
      return await Workers.run { use(verdicts, acknowledgements) }
    }

    /// Counts answered verdicts.
    ///
    /// A verdict that could not be recorded is not answered, and not counted.
    func count(_ verdicts: [Verdict]) { VerdictMetrics.record(verdicts, app: app.name) }

    /// Records verdicts together with the facts of their receipts, and returns the acknowledgement of each.
    ///
    /// It waits while the trail is busy.
    private func record(_ verdicts: [(Verdict, [UInt8])]) async throws -> [AuditAcknowledgement]? {
      try await Self.record(verdicts.map { (self, $0, $1) })
    }

    /// Records verdicts under one policy together, each with the options of its own verification.
    static func record(
      _ verdicts: [(Verification, Verdict, [UInt8])]
    ) async throws -> [AuditAcknowledgement]? {
      guard let first = verdicts.first?.0, let (log, digest) = first.policy.recorder else { return nil }
      let now = first.clock()
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

    /// Writes the JSON object of the answer.
    ///
    /// - Parameters:
    ///   - verdict: The verdict.
    ///   - acknowledgement: The acknowledgement of its record, if there is one.
    ///   - index: The index of its line, if it is one of a batch.
    ///   - writer: The writer of the object.
    func write(
      _ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?, index: Int? = nil,
      to writer: inout JSONWriter
    ) {
      writer.beginObject(type: "verdict")
      if let index { writer.member("index", Int64(index)) }
      verdict.write(to: &writer, at: clock())
      if let acknowledgement {
        writer.member("entry", acknowledgement.index)
        writer.member("repeated", acknowledgement.isRepeat)
      }
      writer.endObject()
    }
  }
#endif
