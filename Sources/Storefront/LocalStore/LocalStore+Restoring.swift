// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// Restoration of finished purchases.
extension LocalStore {
  func restore(
    _ request: RestoreRequest, account: String, after position: StorePosition?, limit: Int
  ) throws(StoreError) -> RestoredTransactionPage {
    let fault = nextFault(of: .restore)
    switch fault {
    case .error(let error): throw error
    case .unavailable: throw StoreError(.unknown, "The store cannot be reached.")
    case .answerLost, nil: break
    }
    let page: RestoredTransactionPage
    do throws(LocalStoreError) {
      page = try restoredPage(request, account: account, after: position, limit: limit)
    } catch {
      throw StoreError(.unknown, error.description)
    }
    if case .answerLost = fault { throw StoreError(.unknown, "The store's answer was lost.") }
    return page
  }

  private func restoredPage(
    _ request: RestoreRequest, account: String, after position: StorePosition?, limit: Int
  ) throws(LocalStoreError) -> RestoredTransactionPage {
    let now = clock()
    try catchUp(to: now)
    let limit = min(max(1, limit), Self.greatestPage)
    let key = StoreKey.joined(account, request.id)
    var restoration: StoreRestorationRecord
    if let bytes = try value(of: key, in: .storeRestorations) {
      restoration = try Self.decode(bytes, at: "store-restorations/\(key)")
    } else {
      restoration = StoreRestorationRecord()
      restoration.originals = try restorablePurchases(
        of: account, applicationUsername: request.applicationUsername)
    }
    let start = position.flatMap { Int($0.rawValue) } ?? 0
    guard 0...restoration.originals.count ~= start else {
      throw LocalStoreError(.notFound, at: position?.rawValue ?? "", "The restoration has no such page.")
    }
    let end = min(restoration.originals.count, start + limit)
    if end > restoration.made.count {
      restoration = try make(upTo: end, of: restoration, account: account, key: key, at: now)
    }
    var transactions: [RestoredTransaction] = []
    for index in start..<end {
      guard let made = try sale(restoration.made[index]),
        let original = try sale(restoration.originals[index])
      else {
        throw LocalStoreError(
          .corrupt, at: "store-restorations/\(key)", "A sale that it names is not stored.")
      }
      transactions.append(
        RestoredTransaction(transaction: try storeTransaction(made), original: try storeTransaction(original))
      )
    }
    return RestoredTransactionPage(
      transactions: transactions,
      next: end < restoration.originals.count ? StorePosition(rawValue: String(end)) : nil)
  }

  /// Creates the transactions of a page, and of earlier pages that were never requested.
  private func make(
    upTo end: Int, of restoration: StoreRestorationRecord, account: String, key: String, at now: Timestamp
  ) throws(LocalStoreError) -> StoreRestorationRecord {
    try change { engine, change throws(LocalStoreError) in
      var restoration = restoration
      for identifier in restoration.originals[restoration.made.count..<end] {
        guard let original = try sale(identifier) else {
          throw LocalStoreError(.corrupt, at: "store-sales/\(identifier)", "The sale is not stored.")
        }
        var restored = StoreSaleRecord()
        restored.account = account
        restored.payment = original.payment
        restored.transaction = engine.restoration(of: original.transaction, at: now)
        restored.isRestoration = true
        restored.isFinished = true
        let signed: String
        do throws(SigningError) {
          signed = try signer.sign(restored.transaction)
        } catch {
          throw LocalStoreError(error)
        }
        add(restored, receipt: try receipt(of: restored.transaction, signed), to: &change)
        restoration.made.append(restored.identifier)
      }
      change.records.append(.put(.storeRestorations, key: key, value: restoration.encodedJSON()))
      return restoration
    }
  }

  /// One finished transaction per purchase, if its product is restorable and it is not revoked: of a one-time purchase
  /// the first, of a subscription the latest.
  private func restorablePurchases(
    of account: String, applicationUsername: String?
  ) throws(LocalStoreError) -> [String] {
    var found: [String] = []
    var places: [String: Int] = [:]
    var position: String?
    while true {
      let page = try keys(in: .storeAccounts, with: account, after: position, limit: Self.greatestPage)
      guard let last = page.last else { return found }
      position = last
      for identifier in page {
        guard let sale = try sale(identifier), sale.isFinished, !sale.isRestoration,
          sale.transaction.revocationDate == nil,
          products[sale.transaction.productId ?? ""]?.isRestorable == true,
          applicationUsername == nil || sale.payment.applicationUsername == applicationUsername
        else { continue }
        if let place = places[sale.originalIdentifier] {
          if sale.transaction.type == .autoRenewableSubscription { found[place] = identifier }
        } else {
          places[sale.originalIdentifier] = found.count
          found.append(identifier)
        }
      }
    }
  }
}
