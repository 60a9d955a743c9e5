// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored form of a purchase.
struct OwnedPurchaseRecord: JSONObject {
  var product = ""
  var transaction = ""
  var expires: Timestamp?
  var graceEnds: Timestamp?
  var isInBillingRetry: Bool?
  var revoked: Timestamp?
  var isUpgraded: Bool?
  var isConsumable: Bool?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case product, transaction, expires, graceEnds, isInBillingRetry, revoked, isUpgraded, isConsumable
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.product, .transaction])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .product: try coder.code(&product)
    case .transaction: try coder.code(&transaction)
    case .expires: try coder.code(&expires)
    case .graceEnds: try coder.code(&graceEnds)
    case .isInBillingRetry: try coder.code(&isInBillingRetry)
    case .revoked: try coder.code(&revoked)
    case .isUpgraded: try coder.code(&isUpgraded)
    case .isConsumable: try coder.code(&isConsumable)
    }
  }

  init(_ purchase: OwnedPurchase) {
    product = purchase.productIdentifier
    transaction = purchase.transactionIdentifier
    expires = purchase.expiresAt
    graceEnds = purchase.gracePeriodEndsAt
    isInBillingRetry = purchase.isInBillingRetry ? true : nil
    revoked = purchase.revokedAt
    isUpgraded = purchase.isUpgraded ? true : nil
    isConsumable = purchase.isConsumable ? true : nil
  }

  var purchase: OwnedPurchase {
    OwnedPurchase(
      productIdentifier: product, transactionIdentifier: transaction, expiresAt: expires,
      gracePeriodEndsAt: graceEnds, isInBillingRetry: isInBillingRetry ?? false, revokedAt: revoked,
      isUpgraded: isUpgraded ?? false, isConsumable: isConsumable ?? false)
  }
}

extension RecordCollection {
  /// The purchases that a ``QueuePurchaseRecord`` remembers, by the store's transaction identifier.
  static let ownedPurchases = RecordCollection(rawValue: "owned-purchases")
}
