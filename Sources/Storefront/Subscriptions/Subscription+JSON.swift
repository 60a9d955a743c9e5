// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension Subscription: JSONObject {
  package enum Field: String, CaseIterable, Sendable {
    case account, applicationUsername, transaction, autoRenewProductIdentifier, autoRenews, expirationIntent,
      isInBillingRetry, gracePeriodExpiresDate, priceIncreaseStatus, renewalPrice, renewalOffer,
      recentStartDate, dueDate, sharedFrom, sharedTo, lastSignedDate, productPrice, increasedPrice,
      hasRefusedPrice, anchorDay, retryCount, hasHadIntroductoryOffer, hasPaid, redeemedOffers, extensionDates
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .account, .transaction, .autoRenewProductIdentifier,
  ])

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .account: try coder.code(&account)
    case .applicationUsername: try coder.code(&applicationUsername)
    case .transaction: try coder.code(&transaction)
    case .autoRenewProductIdentifier: try coder.code(&autoRenewProductIdentifier)
    case .autoRenews: try coder.code(&autoRenews)
    case .expirationIntent: try coder.code(&expirationIntent)
    case .isInBillingRetry: try coder.code(&isInBillingRetry)
    case .gracePeriodExpiresDate: try coder.code(&gracePeriodExpiresDate)
    case .priceIncreaseStatus: try coder.code(&priceIncreaseStatus)
    case .renewalPrice: try coder.code(&renewalPrice)
    case .renewalOffer: try coder.code(&renewalOffer)
    case .recentStartDate: try coder.code(&recentStartDate)
    case .dueDate: try coder.code(&dueDate)
    case .sharedFrom: try coder.code(&sharedFrom)
    case .sharedTo: try coder.code(&sharedTo)
    case .lastSignedDate: try coder.code(&lastSignedDate)
    case .productPrice: try coder.code(&productPrice)
    case .increasedPrice: try coder.code(&increasedPrice)
    case .hasRefusedPrice: try coder.code(&hasRefusedPrice)
    case .anchorDay: try coder.code(&anchorDay)
    case .retryCount: try coder.code(&retryCount)
    case .hasHadIntroductoryOffer: try coder.code(&hasHadIntroductoryOffer)
    case .hasPaid: try coder.code(&hasPaid)
    case .redeemedOffers: try coder.code(&redeemedOffers)
    case .extensionDates: try coder.code(&extensionDates)
    }
  }
}

extension Subscription.RenewalOffer: JSONObject {
  package enum Field: String, CaseIterable, Sendable {
    case productIdentifier, type, identifier, paymentMode, period, price, remaining
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productIdentifier: try coder.code(&productIdentifier)
    case .type: try coder.code(&type)
    case .identifier: try coder.code(&identifier)
    case .paymentMode: try coder.code(&paymentMode)
    case .period: try coder.code(&period)
    case .price: try coder.code(&price)
    case .remaining: try coder.code(&remaining)
    }
  }
}
