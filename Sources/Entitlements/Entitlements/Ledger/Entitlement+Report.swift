// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

// The members of the objects that receipt-tool and the service write; absent ones are omitted.

extension Entitlement {
  /// Writes the members of this entitlement, with the state at an instant.
  package func append(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("originalTransactionId", originalTransactionId)
    object.member("bundleId", id.bundleId)
    object.member("environment", id.environment.plainName)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productId", productId)
    object.member("transactionId", transactionId)
    object.member("appAccountToken", transaction.appAccountToken?.rawValue)
    object.member("expiresDate", expiresDate)
    object.member("nextChangeDate", nextChange(after: instant))
  }
}

extension PlayEntitlement {
  /// Writes the members of this entitlement, with the state at an instant.
  package func append(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("purchaseToken", id.purchaseToken)
    object.member("packageName", id.packageName)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.name("productIds")
    object.beginArray()
    for productId in toldItems(at: instant).compactMap(\.productId) { object.string(productId) }
    object.endArray()
    object.name("lineItems")
    object.beginArray()
    for item in items { append(item, to: &object, at: instant) }
    object.endArray()
    object.member("orderId", orderId(at: instant))
    object.member("isTest", isTest)
    object.member("isAcknowledged", isAcknowledged)
    object.member("obfuscatedAccountId", obfuscatedAccountId)
    object.member("obfuscatedProfileId", obfuscatedProfileId)
    object.member("linkedPurchaseToken", linkedPurchaseToken)
    object.member("replacedByPurchaseToken", replacedByPurchaseToken)
    object.member("expiresDate", expiresDate(at: instant))
    object.member("nextChangeDate", nextChange(after: instant))
  }

  private func append(_ item: Item, to object: inout JSONWriter, at instant: Timestamp) {
    object.beginObject()
    object.member("productId", item.productId)
    object.member("orderId", item.orderId)
    object.member("state", state(of: item, at: instant).rawValue)
    object.member("quantity", remainingQuantity(of: item, at: instant))
    object.member("expiresDate", item.expiryTime)
    object.member("revocationDate", item.voided?.date)
    object.endObject()
  }
}

extension RescindedConsent {
  /// Writes the members of this withdrawal of consent.
  package func append(to object: inout JSONWriter) {
    object.member("appTransactionId", appTransactionId)
    object.member("bundleId", bundleId)
    object.member("environment", environment.plainName)
    object.member("state", "consent-rescinded")
    object.member("signedDate", signedDate)
  }

  /// Returns the name of the ledger part about a customer: see ``EntitlementLedger/Part``.
  package static func name(
    _ environment: ReceiptEnvironment.Category, _ bundleId: String, appTransactionId: String
  ) -> String { "\(environment.rawValue) \(bundleId) customer \(appTransactionId)" }
}
