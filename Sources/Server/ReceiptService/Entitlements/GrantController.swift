// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// Grants named entitlements to customers by hand, and withdraws the grants.
  struct GrantController {
    let entitlements: ServiceEntitlements
    let bodies: BodyReader

    var routes: [Route] { [.grantEntitlement(grant), .withdrawGrant(withdraw)] }

    private func grant(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let app = try call.app()
      let customer = try context.pathParameter("id")
      let body = try await bodies.object(of: call.request)
      if let other = body.object?.first(where: {
        !["entitlement", "reason", "expires", "id"].contains($0.name)
      }) {
        throw Problem.invalid("$.\(ShownText.plain(other.name))", "There is no such member.")
      }
      let id = try body["id"].flatMap { value -> EntitlementGrant.ID? in
        guard value != .null else { return nil }
        guard let id = value.string.flatMap(EntitlementGrant.ID.init(_:)) else {
          throw Problem.invalid("$.id", "It is gr_ and 32 hexadecimal digits in lower case, or absent.")
        }
        return id
      }
      let fact = try GrantFact(
        body, customer: customer, actor: call.principal.keyID, at: entitlements.clock())
      let grant = id ?? .random()
      do {
        let isNew = try await entitlements.grant(grant, fact, app: app.name)
        return .json(
          try await answer(grant, of: customer, app: app).json(), status: isNew ? .created : .ok)
      } catch let failure as GrantFailure {
        throw Problem(failure)
      }
    }

    private func withdraw(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> GrantedEntitlement {
      let app = try call.app()
      let customer = try context.pathParameter("id")
      guard let grant = EntitlementGrant.ID(try context.pathParameter("grant")) else {
        throw Problem.notFound
      }
      let reason = try call.request.queryParameter("reason")
      if let reason { try GrantFact.requireReason(reason, at: "reason") }
      var withdrawal = GrantWithdrawalFact(date: entitlements.clock())
      withdrawal.reason = reason
      withdrawal.actor = call.principal.keyID
      do {
        try await entitlements.withdraw(grant, withdrawal, of: customer, app: app.name)
      } catch let failure as GrantFailure {
        throw Problem(failure)
      }
      return try await answer(grant, of: customer, app: app)
    }

    private func answer(
      _ id: EntitlementGrant.ID, of customer: String, app: ServedApp
    ) async throws -> GrantedEntitlement {
      let found = try await entitlements.entitlements(app: app.name, customer: customer)
      // It was erased meanwhile.
      guard let granted = found.first(where: { $0.name == id.name }) else { throw Problem.notFound }
      let now = entitlements.clock()
      return GrantedEntitlement(
        customer: granted.customer ?? customer, grant: granted.owned(at: now).entitlement,
        access: entitlements.access(of: customer, to: found, app: app.name, at: now) ?? [])
    }
  }

  extension GrantFact {
    /// Reads the grant that a request wants.
    ///
    /// - Throws: ``Problem``.
    init(_ body: JSONValue, customer: String, actor: String, at now: Timestamp) throws {
      guard let entitlement = body["entitlement"]?.string, !entitlement.isEmpty else {
        throw Problem.invalid("$.entitlement", "Name the entitlement.")
      }
      guard let reason = body["reason"]?.string else {
        throw Problem.invalid("$.reason", "State the reason.")
      }
      try Self.requireReason(reason, at: "$.reason")
      var expires: Timestamp?
      if let value = body["expires"], value != .null {
        guard let date = value.string.flatMap({ Timestamp(iso8601: Array($0.utf8).span) }) else {
          throw Problem(GrantFailure.past)
        }
        expires = date
      }
      self.init(date: now, entitlement: entitlement, customer: customer, reason: reason)
      self.expires = expires
      self.actor = actor
    }

    /// Reads the form of the console.
    ///
    /// - Throws: ``Problem``.
    init(form: ConsoleForm, customer: String, actor: String, at now: Timestamp) throws {
      guard !customer.isEmpty else { throw Problem.invalid("customer", "Name the customer.") }
      let reason = form["reason"] ?? ""
      try Self.requireReason(reason, at: "reason")
      self.init(date: now, entitlement: form["entitlement"] ?? "", customer: customer, reason: reason)
      if let days = form["days"], !days.isEmpty {
        guard let days = Int(days), 1...36_500 ~= days else {
          throw Problem.invalid("days", "It takes a number from 1 to 36500.")
        }
        expires = now.addingSeconds(Double(days) * 86_400)
      }
      self.actor = actor
    }

    /// - Throws: ``Problem`` unless a reason has 1 to 1000 bytes.
    static func requireReason(_ reason: String, at place: String) throws {
      guard 1...1000 ~= reason.utf8.count else {
        throw Problem.invalid(place, "The reason has 1 to 1000 bytes.")
      }
    }
  }

  extension Problem {
    init(_ failure: GrantFailure) {
      switch failure {
      case .unknownEntitlement(let known):
        let names = known.isEmpty ? "none" : known.joined(separator: ", ")
        self.init(
          .notFound, "unknown-entitlement", "The app has no entitlement of this name; it has \(names).",
          at: "$.entitlement")
      case .past:
        self = .invalid(
          "$.expires", "It is an instant of the future, such as 2030-01-31T00:00:00Z, or absent.")
      case .otherGrant:
        self.init(
          .conflict, "other-grant",
          "Another grant has this identifier. Leave it out, or send the same request again.", at: "$.id")
      case .unknownGrant: self = .notFound
      }
    }
  }
#endif
