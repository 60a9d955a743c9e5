// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import Storefront

/// The endpoints of one-time purchases: `purchases.products` and `purchases.productsv2`.
enum ProductEndpoints {
  static let routes = [
    PlayRoute("GET", "purchases/products/{}/tokens/{}", .oneTimePurchases, .viewFinancialData) { call in
      PlayCall.json(product(try await view(call)))
    },
    PlayRoute("POST", "purchases/products/{}/tokens/{}:acknowledge", .oneTimePurchases) { call in
      let request = try call.body(ProductAcknowledgeRequest.self)
      return try await change(call) { purchase in
        if let payload = request.developerPayload { purchase.developerPayload = payload }
      }
    },
    PlayRoute("POST", "purchases/products/{}/tokens/{}:consume", .oneTimePurchases) { call in
      try await change(call) { $0.isConsumed = true }
    },
    PlayRoute("GET", "purchases/productsv2/tokens/{}", .oneTimePurchases, .viewFinancialData) { call in
      PlayCall.json(productV2(try await call.view(call.parameter(0), isSubscription: false)))
    },
  ]

  private static func view(_ call: PlayCall) async throws -> PlayView {
    let view = try await call.view(call.parameter(1), isSubscription: false)
    guard view.purchase.productId == call.parameter(0) else { throw PlayError.otherProduct }
    return view
  }

  /// Acknowledges a purchase, and changes it.
  private static func change(
    _ call: PlayCall, _ body: (inout PlayPurchase) -> Void
  ) async throws -> RemoteResponse {
    let view = try await view(call)
    guard view.isOwned, !view.purchase.isConsumed else { throw PlayError.notOwned }
    try await call.change(view.purchase) { purchase in
      purchase.acknowledge()
      body(&purchase)
    }
    return PlayCall.noContent
  }

  private static func product(_ view: PlayView) -> ProductPurchase {
    let purchase = view.purchase
    return ProductPurchase().with {
      $0.kind = "androidpublisher#productPurchase"
      $0.purchaseTimeMillis = purchase.purchaseDate
      $0.purchaseState =
        switch purchase.state {
        case .requested, .pending: .pending
        case .canceled: .canceled
        case .purchased: view.isRevoked ? .canceled : .purchased
        }
      $0.consumptionState = purchase.isConsumed ? .consumed : .yetToBeConsumed
      $0.developerPayload = purchase.developerPayload ?? ""
      $0.orderId = purchase.orders.first?.orderId
      $0.purchaseType = purchase.isTest ? .test : nil
      $0.acknowledgementState = purchase.isAcknowledged ? .acknowledged : .pending
      // Google omits a quantity of 1.
      $0.quantity = purchase.quantity == 1 ? nil : purchase.quantity
      $0.refundableQuantity = view.isRevoked ? 0 : purchase.quantity
      $0.obfuscatedExternalAccountId = purchase.obfuscatedAccountId
      $0.obfuscatedExternalProfileId = purchase.obfuscatedProfileId
      $0.regionCode = view.region
    }
  }

  private static func productV2(_ view: PlayView) -> ProductPurchaseV2 {
    let purchase = view.purchase
    let offer = PlayProductOfferDetails().with {
      $0.quantity = purchase.quantity
      $0.refundableQuantity = view.isRevoked ? 0 : purchase.quantity
      $0.consumptionState = purchase.isConsumed ? .consumed : .yetToBeConsumed
    }
    let item = PlayProductLineItem().with {
      $0.productId = purchase.productId
      $0.productOfferDetails = offer
    }
    return ProductPurchaseV2().with {
      $0.kind = "androidpublisher#productPurchaseV2"
      $0.productLineItem = [item]
      $0.purchaseStateContext = PlayPurchaseStateContext().with {
        $0.purchaseState =
          switch purchase.state {
          case .requested, .pending: .pending
          case .canceled: .cancelled
          case .purchased: view.isRevoked ? .cancelled : .purchased
          }
      }
      if purchase.isTest { $0.testPurchaseContext = PlayTestPurchaseContext().with { $0.fopType = .test } }
      $0.orderId = purchase.orders.first?.orderId
      $0.obfuscatedExternalAccountId = purchase.obfuscatedAccountId
      $0.obfuscatedExternalProfileId = purchase.obfuscatedProfileId
      $0.regionCode = view.region
      $0.purchaseCompletionTime = purchase.state == .purchased ? purchase.purchaseDate : nil
      $0.acknowledgementState = purchase.isAcknowledged ? .acknowledged : .pending
    }
  }
}
