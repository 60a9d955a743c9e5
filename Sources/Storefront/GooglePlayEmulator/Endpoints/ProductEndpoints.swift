// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import Storefront

/// The endpoints of one-time purchases: `purchases.products` and `purchases.productsv2`.
enum ProductEndpoints {
  static let routes = [
    PlayRoute("GET", "purchases/products/{}/tokens/{}", .oneTimePurchases, .viewFinancialData) { call in
      PlayCall.json(product(try await owned(call, 1, of: call.parameter(0))))
    },
    PlayRoute("POST", "purchases/products/{}/tokens/{}:acknowledge", .oneTimePurchases) { call in
      let request = try call.body(ProductAcknowledgeRequest.self)
      let view = try await owned(call, 1, of: call.parameter(0))
      guard view.isOwned, !view.purchase.isConsumed else { throw PlayError.notOwned }
      try await call.change(view.purchase) { purchase in
        purchase.isAcknowledged = true
        purchase.acknowledgementDeadline = nil
        if let payload = request.developerPayload { purchase.developerPayload = payload }
      }
      return PlayCall.noContent
    },
    PlayRoute("POST", "purchases/products/{}/tokens/{}:consume", .oneTimePurchases) { call in
      let view = try await owned(call, 1, of: call.parameter(0))
      guard view.isOwned, !view.purchase.isConsumed else { throw PlayError.notOwned }
      try await call.change(view.purchase) { purchase in
        purchase.isAcknowledged = true
        purchase.acknowledgementDeadline = nil
        purchase.isConsumed = true
      }
      return PlayCall.noContent
    },
    PlayRoute("GET", "purchases/productsv2/tokens/{}", .oneTimePurchases, .viewFinancialData) { call in
      PlayCall.json(productV2(try await call.view(call.parameter(0), isSubscription: false)))
    },
  ]

  private static func owned(_ call: PlayCall, _ token: Int, of product: String) async throws -> PlayView {
    let view = try await call.view(call.parameter(token), isSubscription: false)
    guard view.purchase.productId == product else { throw PlayError.otherProduct }
    return view
  }

  private static func product(_ view: PlayView) -> ProductPurchase {
    let purchase = view.purchase
    var answer = ProductPurchase()
    answer.kind = "androidpublisher#productPurchase"
    answer.purchaseTimeMillis = purchase.purchaseDate
    answer.purchaseState =
      switch purchase.state {
      case .requested, .pending: .pending
      case .canceled: .canceled
      case .purchased: view.isRevoked ? .canceled : .purchased
      }
    answer.consumptionState = purchase.isConsumed ? .consumed : .yetToBeConsumed
    answer.developerPayload = purchase.developerPayload ?? ""
    answer.orderId = purchase.orders.first?.orderId
    answer.purchaseType = purchase.isTest ? .test : nil
    answer.acknowledgementState = purchase.isAcknowledged ? .acknowledged : .pending
    // Google omits a quantity of 1.
    answer.quantity = purchase.quantity == 1 ? nil : purchase.quantity
    answer.refundableQuantity = view.isRevoked ? 0 : purchase.quantity
    answer.obfuscatedExternalAccountId = purchase.obfuscatedAccountId
    answer.obfuscatedExternalProfileId = purchase.obfuscatedProfileId
    answer.regionCode = view.region
    return answer
  }

  private static func productV2(_ view: PlayView) -> ProductPurchaseV2 {
    let purchase = view.purchase
    var offer = PlayProductOfferDetails()
    offer.quantity = purchase.quantity
    offer.refundableQuantity = view.isRevoked ? 0 : purchase.quantity
    offer.consumptionState = purchase.isConsumed ? .consumed : .yetToBeConsumed
    var item = PlayProductLineItem()
    item.productId = purchase.productId
    item.productOfferDetails = offer
    var context = PlayPurchaseStateContext()
    context.purchaseState =
      switch purchase.state {
      case .requested, .pending: .pending
      case .canceled: .cancelled
      case .purchased: view.isRevoked ? .cancelled : .purchased
      }
    var answer = ProductPurchaseV2()
    answer.kind = "androidpublisher#productPurchaseV2"
    answer.productLineItem = [item]
    answer.purchaseStateContext = context
    if purchase.isTest {
      var test = PlayTestPurchaseContext()
      test.fopType = .test
      answer.testPurchaseContext = test
    }
    answer.orderId = purchase.orders.first?.orderId
    answer.obfuscatedExternalAccountId = purchase.obfuscatedAccountId
    answer.obfuscatedExternalProfileId = purchase.obfuscatedProfileId
    answer.regionCode = view.region
    answer.purchaseCompletionTime = purchase.state == .purchased ? purchase.purchaseDate : nil
    answer.acknowledgementState = purchase.isAcknowledged ? .acknowledged : .pending
    return answer
  }
}
