// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

extension EntitlementGrant {
  /// The granted named entitlement.
  public var entitlement: String { grant.entitlement }
  /// The customer.
  public var customer: String { grant.customer }
  /// The reason for the grant.
  public var reason: String { grant.reason }
  /// The time of the grant.
  public var grantedDate: Timestamp { grant.date }
  /// The time at which the grant ends by itself; `nil` if it does not.
  public var expiresDate: Timestamp? { grant.expires }
  /// The time at which the grant was withdrawn; `nil` if it was not.
  public var withdrawnDate: Timestamp? { withdrawal?.date }

  /// Returns the state at an instant.
  public func state(at instant: Timestamp) -> State {
    let expires = grant.expires
    // What ended by itself was not withdrawn.
    if let withdrawal, instant >= withdrawal.date, expires.map({ withdrawal.date < $0 }) ?? true {
      return .withdrawn
    }
    if let expires, instant >= expires { return .expired }
    return .active
  }

  /// Returns `true` if the grant gives access at an instant.
  public func grantsAccess(at instant: Timestamp) -> Bool { state(at: instant) == .active }

  /// Returns the standing at an instant, in terms that purchases share; that of a withdrawn grant is `revoked`.
  public func standing(at instant: Timestamp) -> PurchaseStanding { standings.standing(at: instant) }

  private var standings: StandingTimeline {
    StandingTimeline(from: grantedDate, due: dueInstants, .ledger) { instant in
      switch state(at: instant) {
      case .active: .active
      case .expired: .expired
      case .withdrawn: .revoked
      }
    }
  }
}

extension EntitlementGrant.ID: StoreLineID {
  package var name: String { "grant \(identifier)" }

  package static func isLower(_ left: Self, _ right: Self) -> Bool? {
    FactOrder.isLower(left.identifier, right.identifier)
  }
}

extension EntitlementGrant: StoreLine {
  package static var source: EntitlementSource? { .grant }
  package static var reportType: String { "grant" }
  package static var identifierMember: String { "grantId" }
  package static var customerMembers: [String] { [] }

  package var statedCustomer: String? { customer }
  package var dueInstants: [Timestamp] { [expiresDate, withdrawnDate].compactMap(\.self) }
  package var timeline: StandingTimeline? { standings }

  package func condition(at instant: Timestamp) -> State { state(at: instant) }

  package func holdings(at instant: Timestamp) -> [LineHolding] {
    [LineHolding(entitlement: entitlement, standing: standing(at: instant))]
  }

  package func report(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("entitlement", entitlement)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("reason", reason)
    object.member("grantedDate", grantedDate)
    object.member("grantedBy", grant.actor)
    object.member("expiresDate", expiresDate)
    object.member("withdrawnDate", withdrawnDate)
    object.member("withdrawnBy", withdrawal?.actor)
    object.member("withdrawalReason", withdrawal?.reason)
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("expiresDate", expiresDate)
  }
}

/// All that is kept of one grant.
struct GrantLine: LineFacts {
  var grant: GrantFact?
  var withdrawal: GrantWithdrawalFact?

  static let invalidIdentity = "A grant has an identifier."

  static func decode(_ record: GrantRecord) -> (EntitlementGrant.ID, Self)? {
    guard !record.grantId.isEmpty else { return nil }
    return (
      EntitlementGrant.ID(identifier: record.grantId),
      Self(grant: record.grant, withdrawal: record.withdrawal)
    )
  }

  func record(_ id: EntitlementGrant.ID) -> GrantRecord {
    GrantRecord(grantId: id.identifier, grant: grant, withdrawal: withdrawal)
  }

  mutating func join(_ other: Self) {
    grant = .higher(grant, other.grant)
    withdrawal = .higher(withdrawal, other.withdrawal)
  }

  func line(_ id: EntitlementGrant.ID) -> EntitlementGrant? {
    grant.map { EntitlementGrant(id: id, grant: $0, withdrawal: withdrawal) }
  }

  var withdrawals: Self? { nil }
}

extension GrantFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(other.date, date) }
}

extension GrantWithdrawalFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(other.date, date) }
}

extension EntitlementLedger {
  /// The grants by hand, in order.
  public var entitlementGrants: [EntitlementGrant] { grants.lines }

  /// A ledger with one grant.
  package init(granting grant: GrantFact, id: EntitlementGrant.ID) {
    grants.join(GrantLine(grant: grant), to: id)
  }

  /// A ledger with the withdrawal of one grant.
  package init(withdrawing withdrawal: GrantWithdrawalFact, id: EntitlementGrant.ID) {
    grants.join(GrantLine(withdrawal: withdrawal), to: id)
  }
}
