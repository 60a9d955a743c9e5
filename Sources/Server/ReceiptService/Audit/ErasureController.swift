// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec

  /// Erases customers.
  struct ErasureController: Controller {
    let erasures: ErasureQueue

    var routes: [Route] {
      [
        Route(
          method: .delete, path: "/v1/customers/{id}", operation: "eraseCustomer",
          summary:
            "Erases a customer from entitlements, changes, webhooks that wait and the erasable parts of the audit trail, whose proofs stay valid.",
          parameters: [.path("id", .text, "The customer."), .app],
          answers: [(200, "It is done: what was erased.", Route.Content.json("erasure"))],
          respond: .key(.admin, erase))
      ]
    }

    /// Erases a customer.
    ///
    /// If the erasure fails, a job repeats it until it is complete.
    private func erase(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let outcome = try await erasures.erase(
        customer: try context.pathParameter("id"), app: try call.app(), by: call.principal.keyID)
      var object = JSONWriter(type: "erasure")
      object.member("purchases", Int64(outcome.purchases))
      object.member("entries", Int64(outcome.entries))
      object.endObject()
      return .json(object)
    }
  }
#endif
