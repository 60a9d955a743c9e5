// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification

/// The reported state of an entitlement.
///
/// A change is reported if it differs from the last reported one.
package struct EntitlementSnapshot: Sendable, Hashable {
  /// The members, in the form of the member `previous` of changes.
  ///
  /// Equal snapshots have equal bytes.
  package let json: [UInt8]
  let state: String
  let grantsAccess: Bool
  /// The identifier of the latest transaction or order.
  let purchase: String?
  /// The expiry in ISO 8601, whose texts sort like the instants.
  let expiresDate: String?
  package let customer: String?
  /// The members without those of ``laterMembers``.
  private let core: JSONValue
  private let later: [String: JSONValue]

  /// The members that snapshots of earlier builds do not have: their absence there is no change.
  private static let laterMembers: Set<String> = ["period", "renews", "renewalProductId"]

  package init(stored json: [UInt8]) throws {
    let value = try JSONValue(parsing: json)
    let members = value.object ?? []
    core = .object(members.filter { !Self.laterMembers.contains($0.name) })
    later = Dictionary(
      members.filter { Self.laterMembers.contains($0.name) }.map { ($0.name, $0.value) }
    ) { first, _ in first }
    self.json = json
    state = value["state"]?.string ?? ""
    grantsAccess = value["grantsAccess"] == .bool(true)
    purchase = value["transactionId"]?.string ?? value["orderId"]?.string
    expiresDate = value["expiresDate"]?.string
    customer = value["customer"]?.string
  }

  /// Evaluates one part of a ledger at an instant; `nil` if too little is known.
  ///
  /// The customer is that of the purchase itself, if it names one.
  init?(_ ledger: EntitlementLedger, customer: String?, at instant: Timestamp) throws {
    guard let line = ledger.line else { return nil }
    var object = JSONWriter()
    object.beginObject()
    line.snapshot(to: &object, at: instant)
    object.member("customer", ledger.statedCustomer ?? customer)
    object.endObject()
    try self.init(stored: object.bytes)
  }
}

extension EntitlementSnapshot {
  /// Returns `true` if a later snapshot reports something else.
  func isChanged(to new: EntitlementSnapshot) -> Bool {
    guard core == new.core, UTF8Text.isIdentical(customer, new.customer) else { return true }
    // A snapshot of an earlier build, or from before the store said whether the subscription renews.
    guard !later.isEmpty else { return false }
    return later["renews"] != nil && later != new.later
  }
}

extension ChangeKind {
  /// Determines the kind of the change from the snapshot that was reported before, if any, to another; `nil` if they
  /// are equal.
  init?(from old: EntitlementSnapshot?, to new: EntitlementSnapshot) {
    guard old.map({ $0.isChanged(to: new) }) ?? true else { return nil }
    if let review = RefundReview.State(rawValue: new.state) {
      self.init(review)
      return
    }
    let isNewState = old?.state != new.state
    if new.state == RescindedConsent.state {
      self = .consentRescinded
    } else if let customer = old?.customer, !UTF8Text.isIdentical(customer, new.customer) {
      self = .transferred
    } else if isNewState, new.state == Entitlement.State.refunded.rawValue {
      self = .refunded
    } else if isNewState,
      [Entitlement.State.revoked.rawValue, EntitlementGrant.State.withdrawn.rawValue].contains(new.state)
    {
      self = .revoked
    } else if new.grantsAccess {
      self = Self.granting(from: old, to: new)
    } else if new.state == PlayEntitlement.State.consumed.rawValue {
      self = .updated
    } else if old?.grantsAccess ?? (new.state == Entitlement.State.expired.rawValue) {
      self = .expired
    } else {
      self = .updated
    }
  }

  private init(_ review: RefundReview.State) {
    switch review {
    case .open: self = .reviewOpened
    case .due: self = .reviewDue
    case .answered, .answering, .skipped: self = .reviewAnswered
    case .missed: self = .reviewMissed
    case .granted, .partlyGranted, .declined, .reversed: self = .reviewDecided
    }
  }

  /// The states from which a payment restores access.
  private static let lapsed = Set(EntitlementLedger.kinds.flatMap { $0.lineType.lapsedStates })

  private static func granting(from old: EntitlementSnapshot?, to new: EntitlementSnapshot) -> Self {
    guard let old else { return .granted }
    guard old.grantsAccess else { return lapsed.contains(old.state) ? .renewed : .granted }
    if new.state == Entitlement.State.inGracePeriod.rawValue, old.state != new.state { return .gracePeriod }
    let isLater = (new.expiresDate ?? "") > (old.expiresDate ?? "")
    return isLater && new.purchase != old.purchase ? .renewed : .updated
  }
}
