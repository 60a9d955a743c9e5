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
      var object = JSONWriter(type: "entitlements")
      object.member(entitlements: found, at: entitlements.clock())
      object.endObject()
      return .json(object)
    }

    private func history(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let app = try call.app()
      let id = try context.pathParameter("id")
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      var object = JSONWriter(type: "history")
      object.member(entitlements: found, at: entitlements.clock())
      object.name("changes")
      object.beginArray()
      for entitlement in found {
        for change in try await entitlements.history(app: app.name, name: entitlement.name) {
          change.write(to: &object)
        }
      }
      object.endArray()
      object.name("entries")
      object.beginArray()
      for entry in try await entries(original: id, app: app) { object.append(entry) }
      object.endArray()
      object.endObject()
      return .json(object)
    }

    /// The audit entries of an original transaction that an app may see.
    private func entries(original: String, app: ServedApp) async throws -> [JSONWriter] {
      guard let auditLog else { return [] }
      return try await auditLog.read { view in
        try view.history(original: original, limit: 1000).filter { app.isAbout($0.entry) }.map {
          try $0.json(in: view)
        }
      }
    }
  }

  extension JSONWriter {
    /// Writes the member `entitlements`.
    mutating func member(entitlements: [StoredEntitlement], at instant: Timestamp) {
      name("entitlements")
      beginArray()
      for entitlement in entitlements {
        beginObject()
        member("customer", entitlement.customer)
        name("entitlement")
        entitlement.append(to: &self, at: instant)
        endObject()
      }
      endArray()
    }
  }
#endif
