// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
@testable import GooglePlay
import ReceiptCodec
import Testing

/// Something that is learned of a purchase in Google Play, in plain values. Instants are whole numbers.
enum PlayNews: Sendable {
  struct Product: Sendable {
    var id: String
    var order: String?
    var expiry: Int?
    var quantity: Int64?
    var refundable: Int64?
  }

  struct Answer: Sendable {
    var token: String
    var asOf: Int
    var isSubscription: Bool
    var state: String
    var products: [Product]
    var start: Int?
    var linked: String?
    var account: String?
    var expiredAccount: String?
  }

  case answer(Answer)
  case voided(token: String, order: String?, date: Int, quantity: Int64?, isMessage: Bool)
  case gone(token: String, asOf: Int)

  static func instant(_ number: Int) -> Timestamp { PlayFixture.now.addingSeconds(Double(number)) }

  static func id(_ token: String) -> PlayEntitlement.ID? {
    PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: token)
  }

  /// The ledger that learned this, by the calls that a server makes.
  var change: EntitlementLedger {
    get throws {
      var ledger = EntitlementLedger()
      switch self {
      case .answer(let answer): try Self.apply(answer, to: &ledger)
      case .voided(let token, let order, let date, let quantity, let isMessage):
        if isMessage {
          let order = order.map { #","orderId":"\#($0)""# } ?? ""
          let json = """
            {"packageName":"\(PlayFixture.packageName)","eventTimeMillis":\
            "\(Int64(Self.instant(date).millisecondsSince1970))",\
            "voidedPurchaseNotification":{"purchaseToken":"\(token)"\(order),"refundType":1}}
            """
          let message = DeveloperMessage(
            messageId: "m", publishTime: nil, packageName: PlayFixture.packageName,
            notification: try DeveloperNotification(json: Array(json.utf8), part: "test", limits: .standard),
            json: [])
          ledger.apply(message, to: try #require(Self.id(token)), at: PlayFixture.now)
        } else {
          ledger.apply(
            VoidedPurchase().with {
              $0.purchaseToken = token
              $0.orderId = order
              $0.voidedTimeMillis = Self.instant(date)
              $0.voidedQuantity = quantity
            }, packageName: PlayFixture.packageName)
        }
      case .gone(let token, let asOf):
        ledger.applyUnknownToken(try #require(Self.id(token)), asOf: Self.instant(asOf))
      }
      return ledger
    }
  }

  private static func apply(_ answer: Answer, to ledger: inout EntitlementLedger) throws {
    let id = try #require(Self.id(answer.token))
    if answer.isSubscription {
      let purchase = SubscriptionPurchaseV2().with {
        $0.subscriptionState = PlaySubscriptionState(rawValue: "SUBSCRIPTION_STATE_\(answer.state)")
        $0.startTime = answer.start.map(instant)
        $0.linkedPurchaseToken = answer.linked
        $0.lineItems = answer.products.map { product in
          PlaySubscriptionLineItem().with {
            $0.productId = product.id
            $0.latestSuccessfulOrderId = product.order
            $0.expiryTime = product.expiry.map(instant)
          }
        }
        if let account = answer.account {
          $0.externalAccountIdentifiers = PlayExternalAccountIdentifiers().with {
            $0.obfuscatedExternalAccountId = account
          }
        }
        if let account = answer.expiredAccount {
          $0.outOfAppPurchaseContext = PlayOutOfAppPurchaseContext().with {
            $0.expiredPurchaseToken = "t9"
            $0.expiredExternalAccountIdentifiers = PlayExternalAccountIdentifiers().with {
              $0.obfuscatedExternalAccountId = account
            }
          }
        }
      }
      ledger.apply(purchase, to: id, asOf: instant(answer.asOf))
    } else {
      let purchase = ProductPurchaseV2().with {
        $0.purchaseStateContext = PlayPurchaseStateContext().with {
          $0.purchaseState = PlayPurchaseState(rawValue: answer.state)
        }
        $0.orderId = answer.products.first?.order
        $0.obfuscatedExternalAccountId = answer.account
        $0.productLineItem = answer.products.map { product in
          PlayProductLineItem().with {
            $0.productId = product.id
            $0.productOfferDetails = PlayProductOfferDetails().with {
              $0.quantity = product.quantity
              $0.refundableQuantity = product.refundable
            }
          }
        }
      }
      ledger.apply(purchase, to: id, asOf: instant(answer.asOf))
    }
  }
}

/// A plain model of a purchase: its state by all that was learned about it. It looks at every piece of news and drops
/// none.
struct PlayModel {
  let news: [PlayNews]

  struct Standing: Hashable, CustomStringConvertible {
    var state: String
    var products: [String: Int64]
    var account: String?

    var description: String { "\(state) \(products.sorted { $0.key < $1.key }) \(account ?? "-")" }
  }

  private func answers(_ token: String) -> [PlayNews.Answer] {
    news.compactMap { if case .answer(let answer) = $0, answer.token == token { answer } else { nil } }
  }

  func standing(of token: String, at now: Int) -> Standing? {
    let answers = answers(token)
    guard let answer = answers.max(by: { $0.asOf < $1.asOf }) else { return nil }
    // A purchase ends when another one that was paid for says that it replaced it.
    let isReplaced = news.contains {
      guard case .answer(let other) = $0, other.linked == token, other.token != token else { return false }
      return !other.state.hasPrefix("PENDING") && other.start ?? other.asOf <= now
    }
    // Google Play does not know the token any more, unless it did later.
    let gone = news.compactMap { if case .gone(token, let asOf) = $0 { asOf } else { nil } }.max()
    let isGone = gone.map { $0 >= answer.asOf && $0 <= now } ?? false

    var states: [(state: String, end: Int?)] = []
    var products: [String: Int64] = [:]
    for product in owned(of: answer) {
      let quantity = remaining(product, of: answer, at: now)
      if quantity == 0 {
        states.append(("refunded", refund(product, of: answer, at: now)))
        continue
      }
      let state =
        isReplaced ? "replaced" : isGone ? "expired" : reported(product, of: answer, at: now)
      states.append((state, product.expiry.map { isGone ? min($0, gone ?? $0) : $0 }))
      if state == "active" || state == "in-grace-period" { products[product.id] = quantity }
    }
    return Standing(state: overall(states), products: products, account: account(answers))
  }

  /// The customer owns what an order paid for; if the answer names no order at all, everything.
  private func owned(of answer: PlayNews.Answer) -> [PlayNews.Product] {
    let paid = answer.products.filter { $0.order != nil }
    return paid.isEmpty ? answer.products : paid
  }

  /// Access if a product gives it. If none does, what ended last.
  private func overall(_ states: [(state: String, end: Int?)]) -> String {
    for state in ["active", "in-grace-period"] where states.contains(where: { $0.state == state }) {
      return state
    }
    let others = states.filter { $0.state != "refunded" }
    guard let other = others.first else { return "refunded" }
    guard other.state == "expired" else { return other.state }
    guard let refunded = states.filter({ $0.state == "refunded" }).compactMap(\.end).max() else {
      return "expired"
    }
    return others.contains { $0.end.map { $0 > refunded } ?? false } ? "expired" : "refunded"
  }

  private func reported(_ product: PlayNews.Product, of answer: PlayNews.Answer, at now: Int) -> String {
    guard answer.isSubscription else {
      return ["PURCHASED": "active", "CANCELLED": "cancelled", "PENDING": "pending"][answer.state]
        ?? "unknown"
    }
    let isCurrent = product.expiry.map { now < $0 } ?? false
    switch answer.state {
    case "ACTIVE", "CANCELED": return isCurrent ? "active" : "expired"
    case "IN_GRACE_PERIOD": return isCurrent ? "in-grace-period" : "expired"
    case "ON_HOLD": return "on-hold"
    case "PAUSED": return "paused"
    case "EXPIRED": return "expired"
    case "PENDING": return "pending"
    default: return "unknown"
    }
  }

  /// The dates of what was voided of the order that paid for a product.
  private func voids(_ product: PlayNews.Product, of answer: PlayNews.Answer) -> [Int] {
    news.compactMap {
      guard case .voided(answer.token, let order, let date, nil, _) = $0 else { return nil }
      guard answer.isSubscription, let order else { return date }
      if let own = product.order { return order == own ? date : nil }
      return answer.products.contains { $0.order == order } ? nil : date
    }
  }

  /// Refunds of a part of the quantity, each once, however often it is listed.
  private func parts(of answer: PlayNews.Answer) -> [(date: Int, quantity: Int64)] {
    guard !answer.isSubscription, answer.products.count == 1 else { return [] }
    var seen: Set<[String]> = []
    return news.compactMap {
      guard case .voided(answer.token, let order, let date, let quantity?, _) = $0,
        seen.insert([order ?? "", "\(date)", "\(quantity)"]).inserted
      else { return nil }
      return (date, quantity)
    }
  }

  private func remaining(_ product: PlayNews.Product, of answer: PlayNews.Answer, at now: Int) -> Int64 {
    if voids(product, of: answer).contains(where: { $0 <= now }) { return 0 }
    let bought = product.quantity ?? 1
    let refunded = parts(of: answer).filter { $0.date <= now }.map(\.quantity).reduce(0, +)
    var left = max(0, bought - refunded)
    if now >= answer.asOf, let refundable = product.refundable { left = min(left, refundable) }
    return left
  }

  /// When the whole of a product was refunded.
  private func refund(_ product: PlayNews.Product, of answer: PlayNews.Answer, at now: Int) -> Int {
    voids(product, of: answer).min() ?? parts(of: answer).map(\.date).max() ?? answer.asOf
  }

  /// The latest answer's; else what the purchase itself said before; else that of the expired purchase.
  private func account(_ answers: [PlayNews.Answer]) -> String? {
    let answers = answers.sorted { $0.asOf < $1.asOf }
    return answers.last?.account ?? answers.compactMap(\.account).last
      ?? answers.filter { $0.account == nil }.compactMap(\.expiredAccount).last
  }
}

/// Random lives of two purchases; the second may replace the first.
struct PlayLifeGenerator {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }
  private mutating func date() -> Int { Int.random(in: 0..<20, using: &random) }

  private static let orders = ["GPA.1", "GPA.1..0", "GPA.1..1", "GPA.1..2", "GPA.1..10", "GPA.7", "GPA.7..0"]

  mutating func life() -> [PlayNews] {
    let isSubscription = chance(65)
    // No two answers of one instant: which of them counts the facts do not say.
    var instants = Array(0..<20).shuffled(using: &random)
    return (0..<Int.random(in: 2...12, using: &random)).map { _ in
      let token = chance(75) ? "t1" : "t2"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4: return .answer(answer(token, isSubscription, asOf: instants.popLast() ?? 0))
      case 4..<9:
        let isPart = !isSubscription && chance(50)
        return .voided(
          token: token, order: chance(90) ? (isSubscription ? pick(Self.orders) : "GPA.1") : nil,
          date: date(),
          quantity: isPart ? Int64.random(in: 1...3, using: &random) : nil, isMessage: !isPart && chance(50))
      default: return .gone(token: token, asOf: date())
      }
    }
  }

  private mutating func answer(_ token: String, _ isSubscription: Bool, asOf: Int) -> PlayNews.Answer {
    let names = ["base", "add-on", "extra"].shuffled(using: &random)
    let oneTimeOrder = chance(95) ? "GPA.1" : nil
    let products = (0..<pick([1, 1, 1, 2, 2, 3])).map { index in
      let quantity = pick([nil, 1, 2, 3, 5] as [Int64?])
      return isSubscription
        ? PlayNews.Product(
          id: names[index], order: chance(95) ? pick(Self.orders) : nil, expiry: chance(95) ? date() : nil)
        : PlayNews.Product(
          id: names[index], order: oneTimeOrder, quantity: quantity,
          refundable: chance(40) ? Int64.random(in: 0...(quantity ?? 1), using: &random) : nil)
    }
    return PlayNews.Answer(
      token: token, asOf: asOf, isSubscription: isSubscription,
      state: isSubscription
        ? pick([
          "ACTIVE", "ACTIVE", "ACTIVE", "CANCELED", "IN_GRACE_PERIOD", "ON_HOLD", "PAUSED", "EXPIRED",
          "PENDING", "NEW",
        ])
        : pick(["PURCHASED", "PURCHASED", "PURCHASED", "CANCELLED", "PENDING", "NEW"]),
      products: products, start: chance(70) ? date() : nil,
      linked: isSubscription && token == "t2" && chance(60) ? "t1" : nil,
      account: chance(40) ? pick(["alice", "bob"]) : nil,
      expiredAccount: isSubscription && chance(30) ? pick(["carol", "dave"]) : nil)
  }
}
