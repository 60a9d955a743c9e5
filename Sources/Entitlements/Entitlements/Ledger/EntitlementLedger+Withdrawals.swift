// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EntitlementLedger {
  /// A ledger that keeps refunded and revoked purchases from being granted again after their other data is erased.
  ///
  /// It contains the refunds, voids and revocations, and the transactions that they concern, without the customer.
  /// Merged into a ledger that learns of such a purchase again, it has the same effect as before. `nil` if no purchase
  /// was refunded, voided or revoked.
  package var withdrawals: EntitlementLedger? {
    var found = EntitlementLedger()
    for (id, line) in lines {
      guard
        line.revocation != nil || line.revocationOfLine != nil
          || line.transaction?.transaction.revocationDate != nil
      else { continue }
      var kept = PurchaseLine()
      kept.transaction = line.transaction.map {
        TransactionFact(signedDate: $0.signedDate, transaction: $0.transaction.withoutCustomer)
      }
      kept.revocation = line.revocation.map(\.withoutReason)
      kept.reversal = line.reversal.map(\.withoutReason)
      kept.revocationOfLine = line.revocationOfLine.map(\.withoutReason)
      kept.reversalOfLine = line.reversalOfLine.map(\.withoutReason)
      found.lines[id] = kept
    }
    for (id, line) in playLines {
      guard line.voids != nil else { continue }
      var kept = PlayPurchaseLine()
      kept.voids = line.voids
      found.playLines[id] = kept
    }
    return found == EntitlementLedger() ? nil : found
  }
}

extension JWSTransaction {
  /// The transaction with only the members that determine access.
  fileprivate var withoutCustomer: JWSTransaction {
    var transaction = JWSTransaction()
    transaction.originalTransactionId = originalTransactionId
    transaction.transactionId = transactionId
    transaction.bundleId = bundleId
    transaction.productId = productId
    transaction.purchaseDate = purchaseDate
    transaction.expiresDate = expiresDate
    transaction.type = type
    transaction.inAppOwnershipType = inAppOwnershipType
    transaction.signedDate = signedDate
    transaction.revocationReason = revocationReason
    transaction.revocationDate = revocationDate
    transaction.revocationType = revocationType
    transaction.revocationPercentage = revocationPercentage
    transaction.isUpgraded = isUpgraded
    transaction.environment = environment
    return transaction
  }
}

extension PurchaseEventFact {
  /// The event without the customer's reason.
  fileprivate var withoutReason: PurchaseEventFact {
    var fact = self
    fact.reason = nil
    return fact
  }
}
