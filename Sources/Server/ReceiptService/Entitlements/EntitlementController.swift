// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import ReceiptCodec

  /// Answers what purchases and customers are entitled to.
  struct EntitlementController: Controller {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    var routes: [Route] {
      [.getEntitlement(entitlement), .getEntitlementHistory(history), .getCustomerEntitlements(customer)]
    }

    private func entitlement(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> EntitlementList {
      let app = try call.app()
      let found = try await entitlements.entitlements(
        app: app.name, identifier: try context.pathParameter("id"))
      guard !found.isEmpty else { throw Problem.notFound }
      return answer(found)
    }

    private func customer(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> EntitlementList {
      let app = try call.app()
      return answer(
        try await entitlements.entitlements(app: app.name, customer: try context.pathParameter("id")))
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
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
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
  }
#endif
