// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec

  /// Erases customers.
  struct ErasureController: Controller {
    let erasures: ErasureQueue

    var routes: [Route] { [.eraseCustomer(erase)] }

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
