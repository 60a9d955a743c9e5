// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptCrypto

  extension ReceiptAPI {
    /// Erases a customer. Every step can be repeated: where one fails, the request is to be sent again, and what was done
    /// stays done.
    func eraseCustomer(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let app = try app(of: request, context)
      let customer = RecordingOptions.canonicalCustomer(try pathParameter("id", context))
      let purchases = Set(
        try await entitlements.entitlements(app: app.name, customer: customer).map(\.identifier))
      let erased: Int
      if let log = configuration.auditLog {
        let entries = try await log.read { view in
          var found = Set(
            try view.entries(customer: customer).filter { app.isAbout($0.entry) || $0.entry.bundle == nil }
              .map(\.index))
          // Their purchases that were recorded without a customer's name.
          for purchase in purchases.sorted() {
            for recorded in try view.history(original: purchase)
            where app.isAbout(recorded.entry) && recorded.entry.commitment != nil {
              if let part = try view.erasablePart(at: recorded.index),
                part.customerToken == nil || part.customerToken == customer
              {
                found.insert(recorded.index)
              }
            }
          }
          return found.sorted()
        }
        if !entries.isEmpty { try await log.erase(entries: entries) }
        erased = entries.count
      } else {
        erased = 0
      }
      // Last: what the entitlements say of the customer's purchases is needed for the trail, also by a repetition.
      _ = try await entitlements.erase(app: app.name, customer: customer)
      let now = clock().milliseconds
      let actor = context.principal?.keyID ?? ""
      // Who was erased is told by a digest: the act must not keep the name.
      let digest = SHA256Digest(of: Array("\(app.name) \(customer)".utf8)).hexadecimal
      try await database.write { session in
        try AdministrativeAct.record(
          "customer.erase", "app=\(app.name) sha256=\(digest) entries=\(erased)", by: actor, at: now,
          in: session)
      }
      var object = JSONWriter(type: "erasure")
      object.member("purchases", Int64(purchases.count))
      object.member("entries", Int64(erased))
      object.endObject()
      return .json(object)
    }
  }
#endif
