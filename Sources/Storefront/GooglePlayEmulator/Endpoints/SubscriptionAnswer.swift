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
      var context = PlayPausedStateContext()
      context.autoResumeTime = record.resumeDate
      answer.pausedStateContext = context
    }
    answer.testPurchase = record.isTest ? EmptyObject() : nil
    answer.acknowledgementState = record.isAcknowledged ? .acknowledged : .pending
    if record.obfuscatedAccountId != nil || record.obfuscatedProfileId != nil {
      var ids = PlayExternalAccountIdentifiers()
      ids.obfuscatedExternalAccountId = record.obfuscatedAccountId
      ids.obfuscatedExternalProfileId = record.obfuscatedProfileId
      answer.externalAccountIdentifiers = ids
    }
    answer.lineItems = [lineItem]
    switch answer.subscriptionState {
    case .inGracePeriod?: answer.inGracePeriodStateContext = declinedContext
    case .onHold?: answer.onHoldStateContext = declinedContext
    default: break
    }
    answer.etag = Base64.encodeToString(
      Array(Digest.hash(answer.encodedJSON(), using: .sha256).prefix(12)))
    return answer
  }

  private var declinedContext: PlayRenewalProblemContext {
    var declined = PlayRenewalDeclined()
    declined.pendingOrderId = record.nextOrderId
    var context = PlayRenewalProblemContext()
    context.renewalDeclined = declined
    return context
  }

  private var canceledContext: PlayCanceledStateContext? {
    guard ["CANCELED", "EXPIRED"].contains(view.subscriptionState), record.state == .purchased else {
      return nil
    }
    var context = PlayCanceledStateContext()
    switch record.canceller {
    case .user?:
      var cancellation = PlayUserInitiatedCancellation()
      cancellation.cancelTime = record.cancellationDate
      context.userInitiatedCancellation = cancellation
    case .developer?: context.developerInitiatedCancellation = EmptyObject()
    case .replacement?: context.replacementCancellation = EmptyObject()
    case .system?, nil: context.systemInitiatedCancellation = EmptyObject()
    }
    return context
  }

  private var lineItem: PlaySubscriptionLineItem {
    var item = PlaySubscriptionLineItem()
    item.productId = view.transaction?.productId ?? record.productId
    guard record.state == .purchased else { return item }
    item.expiryTime = view.expiryDate
    item.latestSuccessfulOrderId = record.orders.last?.orderId
    var plan = PlayAutoRenewingPlan()
    plan.autoRenewEnabled = view.autoRenews
    plan.recurringPrice = money(view.recurringPrice)
    plan.priceChangeDetails = priceChange
    item.autoRenewingPlan = plan
    var offer = PlayOfferDetails()
    let product = item.productId.flatMap { id in
      call.ledger.store.catalog.products.first { $0.productIdentifier == id }
    }
    offer.basePlanId = product?.subscription?.period.description.lowercased()
    offer.offerId = view.transaction?.offerIdentifier
    item.offerDetails = offer
    var phase = PlayOfferPhase()
    switch view.transaction?.offerDiscountType {
    case nil: phase.basePrice = EmptyObject()
    case .freeTrial?: phase.freeTrial = EmptyObject()
    default: phase.introductoryPrice = EmptyObject()
    }
    item.offerPhase = phase
    if let subscription = view.state?.subscription, subscription.autoRenews,
      subscription.autoRenewProductIdentifier != subscription.productIdentifier
    {
      var replacement = PlayDeferredItemReplacement()
      replacement.productId = subscription.autoRenewProductIdentifier
      item.deferredItemReplacement = replacement
    }
    return item
  }

  private var priceChange: PlayPriceChangeDetails? {
    guard let info = view.state?.renewalInfo, let status = info.priceIncreaseStatus,
      let price = info.renewalPrice
    else { return nil }
    var change = PlayPriceChangeDetails()
    change.newPrice = money(price)
    change.priceChangeMode = status == .noResponse ? .increase : .optOutIncrease
    change.priceChangeState = status == .noResponse ? .outstanding : .confirmed
    change.expectedNewPriceChargeTime = view.transaction?.expiresDate
    return change
  }

  private func money(_ thousandths: Int64) -> PlayMoney {
    var money = PlayMoney()
    money.currencyCode = view.transaction?.currency
    money.units = thousandths / 1000
    money.nanos = thousandths % 1000 * 1_000_000
    return money
  }
}
