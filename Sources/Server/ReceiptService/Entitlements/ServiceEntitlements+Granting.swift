// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import Entitlements
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto

  extension EntitlementGrant.ID {
    /// A new identifier.
    static func random() -> Self { Self(identifier: "gr_" + Hexadecimal.encode(Random.bytes(16))) }

    /// Reads an identifier; `nil` unless it is `gr_` and 32 hexadecimal digits in lower case.
    init?(_ text: String) {
      guard text.wholeMatch(of: /gr_[0-9a-f]{32}/) != nil else { return nil }
      self.init(identifier: text)
    }
  }

  /// The reason why a grant is not made or withdrawn.
  package enum GrantFailure: Error {
    /// The app has no entitlement of this name.
    case unknownEntitlement(known: [String])
    /// The end is not in the future.
    case past
    /// The identifier is that of another grant.
    case otherGrant
    /// The customer has no such grant.
    case unknownGrant
  }

  extension ServiceEntitlements {
    /// Grants a named entitlement, and records that as an act.
    ///
    /// - Returns: `true` if it is new; `false` if the same grant has this identifier.
    /// - Throws: ``GrantFailure``; ``DatabaseError``.
    package func grant(
      _ id: EntitlementGrant.ID, _ grant: GrantFact, app: String
    ) async throws -> Bool {
      let known = terms(of: app).entitlements.map(\.name)
      guard known.contains(grant.entitlement) else { throw GrantFailure.unknownEntitlement(known: known) }
      var grant = grant
      grant.customer = RecordingOptions.canonicalCustomer(grant.customer)
      return try await change(id.name, app: app) { [grant] ledger, _ in
        guard let stored = ledger?.entitlementGrants.first else {
          if let expires = grant.expires, expires <= grant.date { throw GrantFailure.past }
          let until = grant.expires.map { " until \($0.iso8601Seconds)" } ?? ""
          return (
            EntitlementLedger(granting: grant, id: id),
            (
              "grant.create", "\(id.identifier) \(grant.entitlement)\(until) of \(app)",
              grant.actor ?? "process"
            )
          )
        }
        guard UTF8Text.isIdentical(stored.customer, grant.customer),
          UTF8Text.isIdentical(stored.entitlement, grant.entitlement),
          UTF8Text.isIdentical(stored.reason, grant.reason), stored.expiresDate == grant.expires
        else { throw GrantFailure.otherGrant }
        return nil
      }
    }

    /// Withdraws a grant, and records that as an act.
    ///
    /// - Returns: `true` if it was not withdrawn before.
    /// - Throws: ``GrantFailure``; ``DatabaseError``.
    @discardableResult
    package func withdraw(
      _ id: EntitlementGrant.ID, _ withdrawal: GrantWithdrawalFact, of customer: String, app: String
    ) async throws -> Bool {
      let customer = RecordingOptions.canonicalCustomer(customer)
      return try await change(id.name, app: app) { ledger, _ in
        guard let stored = ledger?.entitlementGrants.first, UTF8Text.isIdentical(stored.customer, customer)
        else {
          throw GrantFailure.unknownGrant
        }
        guard stored.withdrawal == nil, stored.state(at: withdrawal.date) == .active else { return nil }
        return (
          EntitlementLedger(withdrawing: withdrawal, id: id),
          (
            "grant.withdraw", "\(id.identifier) \(stored.entitlement) of \(app)",
            withdrawal.actor ?? "process"
          )
        )
      }
    }
  }
#endif
