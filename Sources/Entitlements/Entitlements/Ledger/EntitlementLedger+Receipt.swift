// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptVerification

/// What a ledger knows about the purchases of a receipt.
extension EntitlementLedger {
  /// The names of the parts that may know the purchases of a receipt: see ``Part``.
  package static func partNames(for receipt: VerifiedReceipt) -> Set<String> {
    Set(
      receipt.purchases.compactMap { purchase in
        appStoreLine(of: purchase, in: receipt)?.name ?? googlePlayLine(of: purchase, in: receipt)?.name
      })
  }

  /// Returns what the ledger states about the purchases of a receipt at an instant.
  ///
  /// A later purchase of the same original transaction counts: what the customer bought may have been renewed since.
  /// The statement is `unknown` if the ledger knows none of the purchases, or if the receipt is newer than the ledger.
  package func statement(about receipt: VerifiedReceipt, at instant: Timestamp) -> CheckerResponse {
    var standings = appStoreLines(of: receipt).flatMap { $0.statement(at: instant) }
    var environments: Set<ReceiptEnvironment.Category> = []
    let googlePlay = Dictionary(grouping: receipt.purchases) { Self.googlePlayLine(of: $0, in: receipt) }
    for (id, purchases) in googlePlay {
      guard let id else { continue }
      if let entitlement = self[id] {
        environments.insert(entitlement.isTest ? .sandbox : .production)
        for order in Set(purchases.map(\.transactionId)) {
          standings += entitlement.checkedStandings(at: instant, of: order, .ledger)
        }
      } else if let date = voidedDate(of: id) {
        standings.append(CheckedStanding(status: .refunded, since: date, source: .ledger))
      }
    }
    guard !standings.isEmpty else { return CheckerResponse(.unknown) }
    return CheckerResponse(
      .confirmed, environment: environments.count == 1 ? environments.first : nil, purchases: standings)
  }

  private static func appStoreLine(of purchase: Purchase, in receipt: VerifiedReceipt) -> Entitlement.ID? {
    guard purchase.purchaseToken == nil else { return nil }
    return Entitlement.ID(
      environment: receipt.environment?.category, bundleId: receipt.bundleId,
      identifier: purchase.originalTransactionId ?? purchase.transactionId)
  }

  private static func googlePlayLine(
    of purchase: Purchase, in receipt: VerifiedReceipt
  ) -> PlayEntitlement.ID? {
    guard receipt.kind == .googlePlayPurchase, let token = purchase.purchaseToken,
      let packageName = receipt.bundleId
    else { return nil }
    return PlayEntitlement.ID(packageName: packageName, purchaseToken: token)
  }
}

/// The purchases of a receipt that belong to one original transaction, and what a ledger knows of it.
package struct ReceiptLine: Sendable {
  /// The purchases in the receipt, in its order.
  package let purchases: [Purchase]
  /// The latest of them.
  package let latest: Purchase
  /// The entitlement; `nil` if the ledger does not know the original transaction, or has not heard of the latest
  /// purchase.
  package let entitlement: Entitlement?

  /// Returns the standing of the latest purchase, if the ledger knows it; none for the others, whose periods are over.
  fileprivate func statement(at instant: Timestamp) -> [CheckedStanding] {
    guard let entitlement else { return [] }
    let product = entitlement.productId(at: instant) ?? entitlement.productId
    var checked: CheckedStanding
    if UTF8Text.isIdentical(latest.productId ?? "", product ?? "") {
      checked = CheckedStanding(entitlement.standing(at: instant))
    } else if let known = entitlement.transaction.purchaseDate, latest.grantsAccess(at: known) {
      // The customer has another product since, and must not have both.
      checked = CheckedStanding(status: .upgraded, since: known)
    } else {
      return []
    }
    checked.transactionId = latest.transactionId
    checked.source = .ledger
    return [checked]
  }
}

extension EntitlementLedger {
  /// Returns the original transactions of a receipt from the App Store, in the order of their first purchases.
  package func appStoreLines(of receipt: VerifiedReceipt) -> [ReceiptLine] {
    var known = self
    // A signed transaction is a fact as those in the ledger are, and may be later than all of them.
    if receipt.kind == .signedTransaction { _ = try? known.apply(transaction: receipt) }
    func date(_ purchase: Purchase) -> Double { purchase.purchaseDate?.millisecondsSince1970 ?? -.infinity }
    let purchases = receipt.purchases
    let lines = Dictionary(grouping: purchases.indices) { Self.appStoreLine(of: purchases[$0], in: receipt) }
    return lines.sorted { $0.value[0] < $1.value[0] }.flatMap { id, indices -> [ReceiptLine] in
      guard let id else {
        return indices.map { index in
          ReceiptLine(purchases: [purchases[index]], latest: purchases[index], entitlement: nil)
        }
      }
      let members = indices.map { purchases[$0] }
      let latest = members.dropFirst().reduce(members[0]) { date($1) >= date($0) ? $1 : $0 }
      let entitlement = self[id] == nil ? nil : known[id]
      let isHeard = entitlement.map { known in
        known.transactionId == latest.transactionId
          || date(latest) <= known.transaction.purchaseDate?.millisecondsSince1970 ?? -.infinity
      }
      return [
        ReceiptLine(purchases: members, latest: latest, entitlement: isHeard == true ? entitlement : nil)
      ]
    }
  }
}

extension PlayEntitlement {
  /// Returns the standing of each product at an instant, for the receipt of one of the purchase's orders.
  package func checkedStandings(
    at instant: Timestamp, of order: String?, _ source: PurchaseStanding.Source
  ) -> [CheckedStanding] {
    let purchases = purchases(source)
    return purchases.map { purchase in
      var checked = CheckedStanding(purchase.standing(at: instant))
      checked.transactionId = order
      // A subscription may be on its way to another product than the receipt names.
      checked.productId = purchases.count > 1 ? purchase.productId : nil
      if !isSubscription { checked.quantity = purchase.remainingQuantity(at: instant) }
      checked.source = source
      return checked
    }
  }
}

extension EntitlementLedger {
  /// The time at which a purchase of Google Play was voided; `nil` if it was not.
  ///
  /// Of a purchase whose customer was erased, only this is known.
  private func voidedDate(of id: PlayEntitlement.ID) -> Timestamp? {
    playPurchases.facts[id]?.voids?.lazy.filter { $0.quantity == nil }.map(\.date).min()
  }
}

extension EntitlementLedger {
  /// The customer of one part as the store identifies and signs them: the app transaction; `nil` if it is not known.
  package var holder: String? { entitlements.first?.transaction.appTransactionId }
}

extension EntitlementLedger {
  /// `true` for a part that is about a purchase itself, and not about a grant or a refund review.
  package var isOfPurchase: Bool { !purchases.facts.isEmpty || !playPurchases.facts.isEmpty }
}
