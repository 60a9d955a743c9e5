// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec

  extension ReceiptAPI {
    /// Erases a customer.
    ///
    /// If the erasure fails, a job repeats it until it is complete.
    func eraseCustomer(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let outcome = try await erasures.erase(
        customer: try pathParameter("id", context), app: try app(of: request, context),
        by: context.principal?.keyID ?? "")
      var object = JSONWriter(type: "erasure")
      object.member("purchases", Int64(outcome.purchases))
      object.member("entries", Int64(outcome.entries))
      object.endObject()
      return .json(object)
    }
  }
#endif
