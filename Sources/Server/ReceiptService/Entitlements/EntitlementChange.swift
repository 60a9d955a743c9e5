// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  package import ReceiptCodec

  /// A change of an entitlement, as webhooks and server-sent events report it.
  package struct EntitlementChange: Sendable, Hashable {
    /// The kind of a change.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// Access was granted, for the first time or again after a refund.
      case granted = "entitlement.granted"
      /// Another period began, or access returned after it had ended.
      case renewed = "entitlement.renewed"
      /// Charging for the renewal failed, and access continues.
      case gracePeriod = "entitlement.grace-period"
      /// Access ended, for any reason except the next two.
      case expired = "entitlement.expired"
      /// The purchase was refunded.
      case refunded = "entitlement.refunded"
      /// The purchase is no longer shared with this customer.
      case revoked = "entitlement.revoked"
      /// The entitlement now belongs to another customer.
      case transferred = "entitlement.transferred"
      /// Any other reported change.
      case updated = "entitlement.updated"
      /// A guardian withdrew consent to a child's use of the app.
      case consentRescinded = "consent.rescinded"
    }

    /// The number of the change.
    ///
    /// The numbers of one app increase in the order of the commits.
    package let sequence: Int64
    /// The identifier, also sent as `webhook-id`.
    ///
    /// It is the same in each delivery.
    package let id: String
    /// The app.
    package let app: String
    /// The name of the entitlement, which is that of the ledger's part.
    package let name: String
    /// The customer; `nil` if unknown.
    package let customer: String?
    /// The time at which the change was found.
    package let time: Timestamp
    /// The raw value of a ``Kind``, or a type from a later version.
    package let type: String
    /// The reported JSON.
    package let body: [UInt8]

    /// The columns of the table `changes` that a change is read from.
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
    /// Determines the kind of the change from one snapshot to another; `nil` if they are equal.
    ///
    /// - Parameters:
    ///   - old: The snapshot that was reported before; `nil` for the first report.
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

    /// The states from which a payment restores access.
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

    /// The milliseconds since 1970, rounded down; 0 if they cannot be represented.
    var milliseconds: Int64 { Int64(exactly: millisecondsSince1970.rounded(.down)) ?? 0 }
  }

  extension EntitlementChange: JSONWritable {
    /// Writes an object with the sequence, the identifier and the reported JSON.
    package func write(to object: inout JSONWriter) {
      object.beginObject()
      object.member("sequence", sequence)
      object.member("id", id)
      object.name("change")
      object.value((try? JSONValue(parsing: body)) ?? .null)
      object.endObject()
    }
  }
#endif
