// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// App receipts with their purchases, and transaction receipts.
extension InspectionSummary {
  mutating func add(_ payload: AppReceiptPayload) {
    addApp(payload.bundleId, payload.applicationVersion, payload.environment, nil)
    collected.add("store number", payload.appAppleId.flatMap { $0 == 0 ? nil : "\($0)" })
    collected.add("created", payload.receiptCreationDate.map { TimeText.relative($0, to: now) })
    collected.add("first got", payload.originalPurchaseDate.map { TimeText.relative($0, to: now) })
    collected.add("", payload.originalApplicationVersion.map { "version \($0)" })
    addExpiry(payload.expirationDate)
    collected.add("device", payload.sha1Hash.map { _ in "bound to one device" })
    let purchases = payload.inAppPurchases
    if purchases.isEmpty { collected.begin("no purchases") }
    for (index, purchase) in purchases.enumerated() {
      collected.begin("purchase \(index + 1) of \(purchases.count)")
      add(purchase)
    }
  }

  private mutating func add(_ purchase: InAppPurchase) {
    collected.add(
      "product", product(purchase.productId, purchase.productType.map(Self.name), purchase.quantity))
    addBought(purchase.purchaseDate, first: purchase.originalPurchaseDate)
    if let date = purchase.cancellationDate { addRevoked(date, nil) }
    addExpiry(purchase.expiresDate)
    collected.add(
      "offer",
      listed(
        purchase.isTrialPeriod == true ? "free trial" : nil,
        purchase.isInIntroOfferPeriod == true ? "introductory price" : nil, purchase.promotionalOfferId))
    addTransaction(purchase.transactionId, purchase.originalTransactionId)
  }

  private static func name(_ type: AppReceiptProductType) -> String {
    type.productType?.rawValue ?? "type \(type.rawValue) (unknown)"
  }

  mutating func add(_ purchase: TransactionReceiptPurchaseInfo, _ receipt: UnverifiedTransactionReceipt) {
    func flag(_ key: String) -> Bool {
      purchase.additionalEntries.contains { $0.key == key && $0.value == "true" }
    }
    collected.add("product", product(purchase.productId, nil, purchase.quantity))
    addBought(purchase.purchaseDate, first: purchase.originalPurchaseDate)
    addExpiry(purchase.expiresDate)
    collected.add(
      "offer",
      listed(
        flag("is-trial-period") ? "free trial" : nil,
        flag("is-in-intro-offer-period") ? "introductory price" : nil))
    collected.add(
      "ownership",
      purchase.additionalEntries.first { $0.key == "in-app-ownership-type" }.flatMap { entry in
        let ownership = InAppOwnershipType(rawValue: entry.value)
        return ownership == .purchased ? nil : meaning(ownership.meaning, of: entry.value)
      })
    collected.add(
      "app", listed(purchase.bundleId, purchase.applicationVersion.map { "version \($0)" }, separator: " "))
    collected.add("environment", "\(receipt.claimedEnvironment.rawValue) (claimed, not signed)")
    addTransaction(purchase.transactionId, purchase.originalTransactionId)
    collected.add("device", purchase.uniqueVendorIdentifier ?? purchase.uniqueIdentifier)
  }
}
