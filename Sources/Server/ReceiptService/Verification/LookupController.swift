// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import RemoteChecks

  /// Asks stores about purchases that are named by a reference, merges the facts in their answers, and records them.
  struct LookupController {
    let entitlements: ServiceEntitlements
    let bodies: BodyReader

    var routes: [Route] { [.lookUp(lookUp)] }

    private func lookUp(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let verification = try Verification(for: call, entitlements)
      let reference = try self.reference(in: try await bodies.object(of: call.request))
      guard let (outcome, acknowledgement) = try await verification.lookUp(reference) else {
        throw Problem(
          .notFound, "no-credentials", "The app has no credentials for \(reference.store).", at: "$.store")
      }
      var object = JSONWriter(type: "lookup")
      outcome.answer.write(to: &object, at: entitlements.clock())
      object.member("entry", acknowledgement?.index)
      object.member("repeated", acknowledgement?.isRepeat)
      object.endObject()
      return .json(object)
    }

    private func reference(in body: JSONValue) throws -> PurchaseReference {
      func text(_ name: String) throws -> String? {
        guard let value = body[name], value != .null else { return nil }
        guard let text = value.string else { throw Problem.invalid("$.\(name)", "It takes a text.") }
        return text
      }
      let names = [
        "store", "transactionId", "orderId", "purchaseToken", "productId", "subscriptionId", "packageName",
      ]
      let texts = try names.map(text)
      do throws(PurchaseReference.Mistake) {
        return try PurchaseReference(
          store: texts[0], transactionId: texts[1], orderId: texts[2], purchaseToken: texts[3],
          productId: texts[4],
          subscriptionId: texts[5], packageName: texts[6])
      } catch {
        throw Problem.invalid("$.\(error.member)", error.message)
      }
    }
  }

  extension Verification {
    /// Asks the store about a purchase, records its answer, and merges its facts; `nil` if the app has no credentials.
    ///
    /// - Throws: ``Problem`` if the purchase names another customer.
    func lookUp(
      _ reference: PurchaseReference
    ) async throws -> (outcome: PurchaseLookup.Outcome, acknowledgement: AuditAcknowledgement?)? {
      guard var lookup = app.configuration.lookup, lookup.canAsk(about: reference) else { return nil }
      lookup.verifier = policy.verifier
      let outcome = await lookup.outcome(of: reference)
      return (outcome, try await take(outcome, about: reference))
    }

    /// Records the answer of a store about a purchase, and merges its facts.
    ///
    /// - Throws: ``Problem`` if the purchase names another customer.
    func take(
      _ outcome: PurchaseLookup.Outcome, about reference: PurchaseReference
    ) async throws -> AuditAcknowledgement? {
      let acknowledgement = try await record(outcome.answer, about: reference)
      guard let facts = outcome.facts else { return acknowledgement }
      do throws(any Error) {
        try await entitlements.merge(
          facts, customer: recording.customer, heard: entitlements.clock(), app: app.name)
      } catch is PresentedByAnother {
        throw Problem(
          .conflict, "other-customer",
          "The purchase is valid and names another customer than the request. Nobody was entitled by it.",
          at: "customer", entry: acknowledgement?.index)
      }
      return acknowledgement
    }

    /// Records the answer of a store, if the app records verdicts: what the store signed as a receipt, whose accounts an
    /// erasure must find, and anything else without one.
    func record(
      _ answer: StoreAnswer, about reference: PurchaseReference
    ) async throws -> AuditAcknowledgement? {
      if let receipt = answer.receipt {
        return try await Self.record([(self, .valid(receipt), receipt.encoded)])?.first
      }
      guard let (log, digest) = policy.recorder else { return nil }
      let records = [AuditRecord](
        answer, about: reference.text, policyDigest: digest, at: entitlements.clock(), options: recording)
      return try await log.append(groups: [records]).first
    }
  }
#endif
