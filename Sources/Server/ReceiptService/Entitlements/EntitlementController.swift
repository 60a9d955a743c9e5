// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification

  /// Answers what purchases and customers are entitled to, and grants customers the purchases of receipts that they
  /// present.
  struct EntitlementController {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?
    let bodies: BodyReader
    let apps: ServedApps
    /// The server's own address, which signed entitlements name as their issuer.
    let issuer: String?

    var routes: [Route] {
      [
        .getEntitlement(entitlement), .getEntitlementHistory(history), .getCustomerEntitlements(customer),
        .presentReceipt(present), .getKeySet(keySet),
      ]
    }

    private func entitlement(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> EntitlementList {
      answer(try await found(try context.pathParameter("id"), app: try call.app()))
    }

    private func customer(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> Response {
      let app = try call.app()
      let customer = try context.pathParameter("id")
      let isSigned = call.request.prefers("application/jwt", to: "application/json")
      guard !isSigned || !app.configuration.entitlementSigners.isEmpty else {
        throw Problem(
          .notAcceptable, "no-signing-key",
          "The app has no key that signs entitlements. Set app.\(app.name).signingKeys.", at: "Accept")
      }
      let found = try await entitlements.entitlements(app: app.name, customer: customer)
      let now = entitlements.clock()
      let access = entitlements.access(of: customer, to: found, app: app.name, at: now)
      guard isSigned else {
        let list = EntitlementList(
          access: access, entitlements: found.map { $0.owned(at: now, shownTo: customer) }
        ).json()
        return .cacheable(
          list.bytes, as: "application/json", tag: EntityTag(of: list.bytes), for: call.request)
      }
      return try signed(access ?? [], of: customer, app: app, at: now, for: call.request)
    }

    /// Signs named entitlements.
    ///
    /// A token has a life, so that the same entitlements are signed again after half of it: who holds a token that is
    /// answered as current can use it for the other half.
    private func signed(
      _ access: [EntitlementAccess], of customer: String, app: ServedApp, at now: Timestamp,
      for request: Request
    ) throws -> Response {
      let lifetime = Double(app.configuration.entitlementTokenLifetime)
      let token = SignedEntitlements(
        app: app.name, customer: RecordingOptions.canonicalCustomer(customer), issuer: issuer, issuedAt: now,
        expiresAt: now.addingSeconds(lifetime), access: access)
      let period = (now.millisecondsSince1970 / (500 * lifetime)).rounded(.down)
      let signer = app.configuration.entitlementSigners[0]
      let tag = EntityTag(
        of: token.statement + Array("\(period) \(signer.keyIdentifier)".utf8), isWeak: true)
      return try .cacheable(
        Array(signer.sign(token).utf8), as: "application/jwt", tag: tag, for: request)
    }

    private func keySet(_ request: Request, _ context: ServiceContext) async throws -> Response {
      guard let app = apps[try context.pathParameter("app")],
        !app.configuration.entitlementSigners.isEmpty
      else { throw Problem.notFound }
      let set = try EntitlementKeySet(app.configuration.entitlementSigners.map(\.publicKey)).encoded()
      return .cacheable(
        set, as: "application/jwk-set+json", tag: EntityTag(of: set), for: request,
        caching: "public, max-age=300")
    }

    private func found(_ id: String, app: ServedApp) async throws -> [StoredEntitlement] {
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      return found
    }

    private func answer(_ found: [StoredEntitlement]) -> EntitlementList {
      let now = entitlements.clock()
      return EntitlementList(entitlements: found.map { $0.owned(at: now) })
    }

    private func history(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> EntitlementHistory {
      let app = try call.app()
      let id = try context.pathParameter("id")
      let found = try await found(id, app: app)
      let now = entitlements.clock()
      var changes: [EntitlementChange] = []
      for entitlement in found {
        changes += try await entitlements.history(app: app.name, name: entitlement.name)
      }
      let entries = try await entries(original: id, app: app)
      return EntitlementHistory(
        entitlements: found.map { $0.owned(at: now) }, changes: changes, entries: entries)
    }

    /// The audit entries of an original transaction that an app may see.
    private func entries(original: String, app: ServedApp) async throws -> [JSONWriter] {
      guard let auditLog else { return [] }
      return try await auditLog.read { view in
        try view.history(original: original, limit: 1000).filter { app.isAbout($0.entry) }
          .map { try $0.json(in: view) }
      }
    }

    // MARK: Presenting

    private func present(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> PresentedReceipt {
      let customer = try context.pathParameter("id")
      guard try call.request.queryParameter("customer") == nil else {
        throw Problem.invalid("customer", "The customer is named by the path.")
      }
      var verification = try Verification(for: call, entitlements)
      verification.presenter = customer
      let bytes = try await bodies.content(of: call.request)
      let (verdict, acknowledgement) = try await verification.verdict(on: bytes)
      let found = try await entitle(customer, verdict, acknowledgement?.index, app: verification.app.name)
      verification.count([verdict])
      let now = entitlements.clock()
      let app = verification.app.name
      let everything = try await entitlements.entitlements(app: app, customer: customer)
      return PresentedReceipt(
        verdict: verification.report(verdict, acknowledgement),
        entitlements: found.map { $0.owned(at: now, shownTo: customer) },
        access: entitlements.access(of: customer, to: everything, app: app, at: now))
    }

    /// Grants a customer the purchases of a receipt that they presented, and returns the customer's entitlements of its
    /// original transaction.
    ///
    /// If the receipt names another customer or is incomplete, only the verdict is stored, in the entry.
    private func entitle(
      _ customer: String, _ verdict: Verdict, _ entry: UInt64?, app: String
    ) async throws -> [StoredEntitlement] {
      guard case .valid(let receipt) = verdict else { return [] }
      let customer = RecordingOptions.canonicalCustomer(customer)
      do {
        guard let id = try await entitlements.present(receipt, for: customer, app: app) else { return [] }
        return try await entitlements.entitlements(app: app, customer: customer)
          .filter { $0.identifier == id.originalTransactionId }
      } catch is PresentedByAnother {
        throw Problem(
          .conflict, "other-customer",
          "The receipt is valid and belongs to another customer than the one in the path. Nobody was entitled by it. Present it for the customer whom it names.",
          at: "id", entry: entry)
      } catch let error as EntitlementError {
        throw Problem(.unprocessableContent, "incomplete-receipt", "\(error)", entry: entry)
      }
    }
  }
#endif
