// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptCodec

  /// The reported state of an entitlement.
  ///
  /// A change is reported if it differs from the last reported one.
  struct EntitlementSnapshot: Sendable {
    /// The members, in the form of the member `previous` of changes.
    ///
    /// Equal snapshots have equal bytes.
    let json: [UInt8]
    let state: String
    let grantsAccess: Bool
    /// The identifier of the latest transaction or order.
    let purchase: String?
    /// The expiry in ISO 8601, whose texts sort like the instants.
    let expiresDate: String?
    let customer: String?

    /// Reads a stored snapshot.
    init(stored json: [UInt8]) throws(MalformedReceipt) {
      let value = try JSONValue(parsing: json)
      self.json = json
      state = value["state"]?.string ?? ""
      grantsAccess = value["grantsAccess"] == .bool(true)
      purchase = value["transactionId"]?.string ?? value["orderId"]?.string
      expiresDate = value["expiresDate"]?.string
      customer = value["customer"]?.string
    }

    /// Evaluates one part of a ledger at an instant; `nil` if too little is known.
    ///
    /// - Parameters:
    ///   - ledger: The part.
    ///   - customer: The customer if the purchase itself does not name one.
    ///   - instant: The instant.
    /// - Throws: Nothing in practice, because it parses JSON that it has written.
    init?(_ ledger: EntitlementLedger, customer: String?, at instant: Timestamp) throws(MalformedReceipt) {
      var object = JSONWriter()
      object.beginObject()
      if let entitlement = ledger.entitlements.first {
        object.member("state", entitlement.state(at: instant).rawValue)
        object.member("grantsAccess", entitlement.grantsAccess(at: instant))
        object.member("productId", entitlement.productId)
        object.member("transactionId", entitlement.transactionId)
        object.member("expiresDate", entitlement.expiresDate)
        object.member("revocationDate", entitlement.revocation?.date)
      } else if let purchase = ledger.playEntitlements.first {
        object.member("state", purchase.state(at: instant).rawValue)
        object.member("grantsAccess", purchase.grantsAccess(at: instant))
        object.name("productIds")
        object.value(.array(purchase.toldItems(at: instant).compactMap(\.productId).map { .string($0) }))
        object.member("orderId", purchase.orderId(at: instant))
        object.member("expiresDate", purchase.expiresDate(at: instant))
        let refunded = purchase.refundedQuantity(at: instant)
        if refunded > 0 { object.member("refundedQuantity", refunded) }
        object.member("revocationDate", purchase.voided?.date)
      } else if ledger.rescindedConsents.first != nil {
        object.member("state", Self.consentRescinded)
      } else {
        return nil
      }
      object.member("customer", Self.statedCustomer(ledger) ?? customer)
      object.endObject()
      try self.init(stored: object.bytes)
    }

    static let consentRescinded = "consent-rescinded"

    /// The customer that the purchase itself names.
    static func statedCustomer(_ ledger: EntitlementLedger) -> String? {
      let stated =
        ledger.entitlements.first?.transaction.appAccountToken?.rawValue
        ?? ledger.playEntitlements.first?.obfuscatedAccountId
      guard let stated, !stated.isEmpty else { return nil }
      return RecordingOptions.canonicalCustomer(stated)
    }
  }
#endif
