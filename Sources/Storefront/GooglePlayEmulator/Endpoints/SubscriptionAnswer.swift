// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// The answer of `purchases.subscriptionsv2.get`.
struct SubscriptionAnswer {
  let view: PlayView
  let call: PlayCall

  private var record: PlayPurchase { view.purchase }

  var purchase: SubscriptionPurchaseV2 {
    var answer = SubscriptionPurchaseV2()
    answer.kind = "androidpublisher#subscriptionPurchaseV2"
    answer.regionCode = view.region
    answer.subscriptionState = PlaySubscriptionState(
      rawValue: "SUBSCRIPTION_STATE_\(view.subscriptionState)")
    answer.startTime = record.state == .purchased ? record.purchaseDate : nil
    answer.linkedPurchaseToken = record.linkedToken
    answer.canceledStateContext = canceledContext
    if answer.subscriptionState == .paused {
      answer.pausedStateContext = PlayPausedStateContext().with { $0.autoResumeTime = record.resumeDate }
    }
    answer.testPurchase = record.isTest ? EmptyObject() : nil
    answer.acknowledgementState = record.isAcknowledged ? .acknowledged : .pending
    if record.obfuscatedAccountId != nil || record.obfuscatedProfileId != nil {
      answer.externalAccountIdentifiers = PlayExternalAccountIdentifiers().with {
        $0.obfuscatedExternalAccountId = record.obfuscatedAccountId
        $0.obfuscatedExternalProfileId = record.obfuscatedProfileId
      }
    }
    answer.lineItems = [lineItem]
    let declined = PlayRenewalProblemContext().with {
      $0.renewalDeclined = PlayRenewalDeclined().with { $0.pendingOrderId = record.nextOrderId }
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
    guard ["CANCELED", "EXPIRED"].contains(view.subscriptionState), record.state == .purchased else {
      return nil
    }
    return PlayCanceledStateContext().with {
      switch record.canceller {
      case .user?:
        $0.userInitiatedCancellation = PlayUserInitiatedCancellation().with {
          $0.cancelTime = record.cancellationDate
        }
      case .developer?: $0.developerInitiatedCancellation = EmptyObject()
      case .replacement?: $0.replacementCancellation = EmptyObject()
      case .system?, nil: $0.systemInitiatedCancellation = EmptyObject()
      }
    }
  }

  private var lineItem: PlaySubscriptionLineItem {
    var item = PlaySubscriptionLineItem()
    item.productId = view.transaction?.productId ?? record.productId
    guard record.state == .purchased else { return item }
    item.expiryTime = view.expiryDate
    item.latestSuccessfulOrderId = record.orders.last?.orderId
    item.autoRenewingPlan = PlayAutoRenewingPlan().with {
      $0.autoRenewEnabled = view.autoRenews
      $0.recurringPrice = money(view.recurringPrice)
      $0.priceChangeDetails = priceChange
    }
    let product = call.ledger.store.catalog.products.first { $0.productIdentifier == item.productId }
    item.offerDetails = PlayOfferDetails().with {
      $0.basePlanId = product?.subscription?.period.description.lowercased()
      $0.offerId = view.transaction?.offerIdentifier
    }
    item.offerPhase = PlayOfferPhase().with {
      switch view.transaction?.offerDiscountType {
      case nil: $0.basePrice = EmptyObject()
      case .freeTrial?: $0.freeTrial = EmptyObject()
      default: $0.introductoryPrice = EmptyObject()
      }
    }
    if let subscription = view.state?.subscription, subscription.autoRenews,
      subscription.autoRenewProductIdentifier != subscription.productIdentifier
    {
      item.deferredItemReplacement = PlayDeferredItemReplacement().with {
        $0.productId = subscription.autoRenewProductIdentifier
      }
    }
    return item
  }

  private var priceChange: PlayPriceChangeDetails? {
    guard let info = view.state?.renewalInfo, let status = info.priceIncreaseStatus,
      let price = info.renewalPrice
    else { return nil }
    return PlayPriceChangeDetails().with {
      $0.newPrice = money(price)
      $0.priceChangeMode = status == .noResponse ? .increase : .optOutIncrease
      $0.priceChangeState = status == .noResponse ? .outstanding : .confirmed
      $0.expectedNewPriceChargeTime = view.transaction?.expiresDate
    }
  }

  private func money(_ thousandths: Int64) -> PlayMoney {
    PlayMoney().with {
      $0.currencyCode = view.transaction?.currency
      $0.units = thousandths / 1000
      $0.nanos = thousandths % 1000 * 1_000_000
    }
  }
}
