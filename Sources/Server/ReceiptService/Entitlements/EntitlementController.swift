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

    private func entitlement(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response
    {
      let app = try call.app()
      let found = try await entitlements.entitlements(
        app: app.name, identifier: try context.pathParameter("id"))
      guard !found.isEmpty else { throw Problem.notFound }
      return answer(found)
    }

    private func customer(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let app = try call.app()
      return answer(
        try await entitlements.entitlements(app: app.name, customer: try context.pathParameter("id")))
    }

    private func answer(_ found: [StoredEntitlement]) -> Response {
      .json("entitlements") { $0.member(entitlements: found, at: entitlements.clock()) }
    }

    private func history(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
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
      return .json("history") { object in
        object.member(entitlements: found, at: now)
        object.array("changes", changes) { $0.write(to: &$1) }
        object.array("entries", entries) { $1.append($0) }
      }
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

  extension JSONWriter {
    /// Writes the member `entitlements`.
    mutating func member(entitlements: [StoredEntitlement], at instant: Timestamp) {
      array("entitlements", entitlements) { entitlement, object in
        object.object {
          $0.member("customer", entitlement.customer)
          $0.name("entitlement")
          entitlement.append(to: &$0, at: instant)
        }
      }
    }
  }
#endif
