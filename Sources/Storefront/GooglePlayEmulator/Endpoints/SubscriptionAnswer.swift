// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

extension PlayView {
  /// The answer of `purchases.subscriptionsv2.get`.
  func subscription(of catalog: ProductCatalog) -> SubscriptionPurchaseV2 {
    var answer = SubscriptionPurchaseV2()
    answer.kind = "androidpublisher#subscriptionPurchaseV2"
    answer.regionCode = region
    answer.subscriptionState = PlaySubscriptionState(
      rawValue: "SUBSCRIPTION_STATE_\(subscriptionState)")
    answer.startTime = purchase.state == .purchased ? purchase.purchaseDate : nil
    answer.linkedPurchaseToken = purchase.linkedToken
    answer.canceledStateContext = canceledContext
    if answer.subscriptionState == .paused {
      answer.pausedStateContext = PlayPausedStateContext().with { $0.autoResumeTime = purchase.resumeDate }
    }
    answer.testPurchase = purchase.isTest ? EmptyObject() : nil
    answer.acknowledgementState = purchase.isAcknowledged ? .acknowledged : .pending
    if purchase.obfuscatedAccountId != nil || purchase.obfuscatedProfileId != nil {
      answer.externalAccountIdentifiers = PlayExternalAccountIdentifiers().with {
        $0.obfuscatedExternalAccountId = purchase.obfuscatedAccountId
        $0.obfuscatedExternalProfileId = purchase.obfuscatedProfileId
      }
    }
    answer.lineItems = [lineItem(catalog)]
    let declined = PlayRenewalProblemContext().with {
      $0.renewalDeclined = PlayRenewalDeclined().with { $0.pendingOrderId = purchase.nextOrderId }
    }
    switch answer.subscriptionState {
    case .inGracePeriod?: answer.inGracePeriodStateContext = declined
    case .onHold?: answer.onHoldStateContext = declined
    default: break
    }
    answer.etag = Base64.encodeToString(
      Array(Digest.hash(answer.encodedJSON(), using: .sha256).prefix(12)))
    return answer
  }

  private var canceledContext: PlayCanceledStateContext? {
    guard ["CANCELED", "EXPIRED"].contains(subscriptionState), purchase.state == .purchased else {
      return nil
    }
    return PlayCanceledStateContext().with {
      switch purchase.canceller {
      case .user?:
        $0.userInitiatedCancellation = PlayUserInitiatedCancellation().with {
          $0.cancelTime = purchase.cancellationDate
        }
      case .developer?: $0.developerInitiatedCancellation = EmptyObject()
      case .replacement?: $0.replacementCancellation = EmptyObject()
      case .system?, nil: $0.systemInitiatedCancellation = EmptyObject()
      }
    }
  }

  private func lineItem(_ catalog: ProductCatalog) -> PlaySubscriptionLineItem {
    var item = PlaySubscriptionLineItem()
    item.productId = transaction?.productId ?? purchase.productId
    guard purchase.state == .purchased else { return item }
    item.expiryTime = expiryDate
    item.latestSuccessfulOrderId = purchase.orders.last?.orderId
    item.autoRenewingPlan = PlayAutoRenewingPlan().with {
      $0.autoRenewEnabled = autoRenews
      $0.recurringPrice = money(recurringPrice)
      $0.priceChangeDetails = priceChange
    }
    let product = catalog.products.first { $0.productIdentifier == item.productId }
    item.offerDetails = PlayOfferDetails().with {
      $0.basePlanId = product?.basePlanId
      $0.offerId = transaction?.offerIdentifier
    }
    item.offerPhase = PlayOfferPhase().with {
      switch transaction?.offerDiscountType {
      case nil: $0.basePrice = EmptyObject()
      case .freeTrial?: $0.freeTrial = EmptyObject()
      default: $0.introductoryPrice = EmptyObject()
      }
    }
    if let subscription = state?.subscription, subscription.autoRenews,
      subscription.autoRenewProductIdentifier != subscription.productIdentifier
    {
      item.deferredItemReplacement = PlayDeferredItemReplacement().with {
        $0.productId = subscription.autoRenewProductIdentifier
      }
    }
    return item
  }

  private var priceChange: PlayPriceChangeDetails? {
    guard let info = state?.renewalInfo, let status = info.priceIncreaseStatus,
      let price = info.renewalPrice
    else { return nil }
    return PlayPriceChangeDetails().with {
      $0.newPrice = money(price)
      $0.priceChangeMode = status == .noResponse ? .increase : .optOutIncrease
      $0.priceChangeState = status == .noResponse ? .outstanding : .confirmed
      $0.expectedNewPriceChargeTime = transaction?.expiresDate
    }
  }

  private func money(_ thousandths: Int64) -> PlayMoney {
    PlayMoney(thousandths: thousandths, transaction?.currency)
  }
}
