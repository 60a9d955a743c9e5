// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  package import ReceiptCodec

  /// A change of an entitlement, as webhooks and server-sent events report it.
  package struct EntitlementChange: Sendable, Hashable {
    /// The kind of a change.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// Access, for the first time or again after a refund.
      case granted = "entitlement.granted"
      /// Another period, or access again after it ran out.
      case renewed = "entitlement.renewed"
      /// The renewal could not be charged for, and access continues.
      case gracePeriod = "entitlement.grace-period"
      /// Access ended, for any reason except the two that follow.
      case expired = "entitlement.expired"
      /// Refunded.
      case refunded = "entitlement.refunded"
      /// No longer shared with this customer.
      case revoked = "entitlement.revoked"
      /// Another customer's now.
      case transferred = "entitlement.transferred"
      /// Any other reported change.
      case updated = "entitlement.updated"
      /// A guardian withdrew consent to a child's use of the app.
      case consentRescinded = "consent.rescinded"
    }

    /// Counts up; of one app in the order of the commits.
    package let sequence: Int64
    /// The identifier, also in `webhook-id`. It is the same in each delivery.
    package let id: String
    /// The app.
    package let app: String
    /// The entitlement: the name of the ledger's part.
    package let name: String
    /// The customer; `nil` if unknown.
    package let customer: String?
    /// When it was found.
    package let time: Timestamp
    /// The raw value of a ``Kind``, or a type from a later version.
    package let type: String
    /// The reported JSON.
    package let body: [UInt8]

    /// The columns of table `changes` from which it is read.
    static let columns = ["sequence", "id", "app", "name", "customer", "time", "type", "body"]
      .map { "changes.\($0)" }.joined(separator: ", ")

    init(_ row: DatabaseRow) {
      sequence = row.integer(0)
      id = row.text(1)
      app = row.text(2)
      name = row.text(3)
      customer = row.optionalText(4)
      time = Timestamp(milliseconds: row.integer(5))
      type = row.text(6)
      body = row.bytes(7)
    }
  }

  extension EntitlementChange.Kind {
    /// The kind of the change from one snapshot to another; `nil` if they are equal.
    ///
    /// - Parameters:
    ///   - old: The snapshot reported before; `nil` if there is no such snapshot.
    ///   - new: The snapshot to report.
    init?(from old: EntitlementSnapshot?, to new: EntitlementSnapshot) {
      guard old?.json != new.json else { return nil }
      let isNewState = old?.state != new.state
      if new.state == EntitlementSnapshot.consentRescinded {
        self = .consentRescinded
      } else if let customer = old?.customer, customer != new.customer {
        self = .transferred
      } else if isNewState, new.state == Entitlement.State.refunded.rawValue {
        self = .refunded
      } else if isNewState, new.state == Entitlement.State.revoked.rawValue {
        self = .revoked
      } else if new.grantsAccess {
        self = Self.granting(from: old, to: new)
      } else if old?.grantsAccess ?? (new.state == Entitlement.State.expired.rawValue) {
        self = .expired
      } else {
        self = .updated
      }
    }

    /// The states from which access comes back by paying.
    private static let lapsed: Set<String> = [
      Entitlement.State.expired.rawValue, Entitlement.State.inBillingRetry.rawValue,
      PlayEntitlement.State.onHold.rawValue, PlayEntitlement.State.paused.rawValue,
    ]

    private static func granting(from old: EntitlementSnapshot?, to new: EntitlementSnapshot) -> Self {
      guard let old else { return .granted }
      guard old.grantsAccess else { return lapsed.contains(old.state) ? .renewed : .granted }
      if new.state == Entitlement.State.inGracePeriod.rawValue, old.state != new.state { return .gracePeriod }
      let isLater = (new.expiresDate ?? "") > (old.expiresDate ?? "")
      return isLater && new.purchase != old.purchase ? .renewed : .updated
    }
  }

  extension Timestamp {
    init(milliseconds: Int64) { self.init(millisecondsSince1970: Double(milliseconds)) }

    /// The milliseconds since 1970, rounded down; 0 if they are not representable.
    var milliseconds: Int64 { Int64(exactly: millisecondsSince1970.rounded(.down)) ?? 0 }
  }
#endif
