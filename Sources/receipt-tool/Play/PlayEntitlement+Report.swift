// SPDX-License-Identifier: Apache-2.0

import Entitlements
import ReceiptCodec

extension PlayEntitlement {
  /// Adds the members of an object, with the state at an instant. Absent members are left out.
  func append(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("purchaseToken", id.purchaseToken)
    object.member("packageName", id.packageName)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.name("productIds")
    object.beginArray()
    for productId in items.compactMap(\.productId) { object.string(productId) }
    object.endArray()
    object.member("orderId", orderId)
    object.member("isTest", isTest)
    object.member("isAcknowledged", isAcknowledged)
    object.member("obfuscatedAccountId", obfuscatedAccountId)
    object.member("obfuscatedProfileId", obfuscatedProfileId)
    object.member("linkedPurchaseToken", linkedPurchaseToken)
    object.member("replacedByPurchaseToken", replacedByPurchaseToken)
    object.member("expiresDate", items.compactMap(\.expiryTime).max())
    object.member("nextChangeDate", nextChange(after: instant))
  }
}
