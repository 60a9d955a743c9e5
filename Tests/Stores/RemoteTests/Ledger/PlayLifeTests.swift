// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
import Foundation
import GooglePlay
import ReceiptCodec
import ReceiptVerification
import Testing

/// The seeds of the lives that a property is tried with: a sample, or 100,000 with RECEIPTKIT_FULL_SWEEPS=1.
let ledgerLives: Range<UInt64> =
  ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1" ? 0..<100_000 : 0..<300

/// Random sets of orders, voids, refunds, quantities, expiries, replacements and add-ons, against a plain model. The seed is
/// in the failure's message.
@Suite struct PlayLifeTests {
  private static func standing(_ purchase: PlayEntitlement, at instant: Timestamp) -> PlayModel.Standing {
    var products: [String: Int64] = [:]
    for item in purchase.items(at: instant) {
      products[item.productId ?? ""] = purchase.remainingQuantity(of: item, at: instant)
    }
    return PlayModel.Standing(
      state: purchase.state(at: instant).rawValue, products: products, account: purchase.obfuscatedAccountId)
  }

  private static func difference(_ ledger: EntitlementLedger, _ model: PlayModel) -> String? {
    for token in ["t1", "t2"] {
      guard let id = PlayNews.id(token) else { return "no identifier" }
      let purchase = ledger[id]
      for now in -1...20 {
        let instant = PlayNews.instant(now)
        let expected = model.standing(of: token, at: now)
        let found = purchase.map { standing($0, at: instant) }
        if found != expected {
          return "\(token) at \(now) is \(found?.description ?? "-"), not \(expected?.description ?? "-")"
        }
        guard let purchase, let found, now < 20 else { continue }
        if purchase.grantsAccess(at: instant) == found.products.isEmpty {
          return "\(token) at \(now): access"
        }
        if Set(purchase.productIds(at: instant)) != Set(found.products.keys) {
          return "\(token) at \(now): products"
        }
        // It changes by itself when it said that it would, and then only.
        let next = purchase.nextChange(after: instant)
        let isSame = standing(purchase, at: PlayNews.instant(now + 1)) == found
        if isSame == (next == PlayNews.instant(now + 1)) {
          return "\(token) at \(now): the next change is told for \(next?.iso8601 ?? "never")"
        }
      }
    }
    return nil
  }

  @Test("what a ledger says of any life is what the facts say, in any order, split and repeated")
  func lives() throws {
    var differences = 0
    for seed in ledgerLives {
      var generator = PlayLifeGenerator(seed: seed)
      let news = generator.life()
      let changes = try news.map { try $0.change }
      var ledger = EntitlementLedger()
      for change in changes { ledger.merge(change) }
      if let difference = Self.difference(ledger, PlayModel(news: news)) {
        differences += 1
        Issue.record("seed \(seed): \(difference) after \(news)")
      }
      // Several processes, each with a part of it, which they store meanwhile.
      var parts = Array(repeating: EntitlementLedger(), count: 3)
      for change in (changes + changes.prefix(3)).shuffled(using: &generator.random) {
        let index = Int.random(in: 0..<3, using: &generator.random)
        parts[index].merge(change)
        if Bool.random(using: &generator.random) {
          parts[index] = try EntitlementLedger(decoding: parts[index].encoded())
        }
      }
      var merged = EntitlementLedger()
      for part in parts { merged.merge(part) }
      if merged != ledger || merged.encoded() != ledger.encoded() {
        differences += 1
        Issue.record("seed \(seed): another order gives another ledger")
      }
      if differences > 5 { break }
    }
  }
}
