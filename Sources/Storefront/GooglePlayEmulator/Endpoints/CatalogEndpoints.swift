// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import ReceiptHTTP
internal import Storefront

/// The endpoints `monetization` that read the catalogue.
enum CatalogEndpoints {
  static let routes = [
    PlayRoute("GET", "subscriptions", .monetization) { call in
      let (products, next) = try await page(of: products(call, areSubscriptions: true), call)
      return PlayCall.json(
        PlayCatalogSubscriptionsResponse().with {
          $0.subscriptions = products.isEmpty ? nil : products.map { subscription($0, call.play) }
          $0.nextPageToken = next
        })
    },
    PlayRoute("GET", "subscriptions/{}/basePlans/{}/offers", .monetization) { call in
      let (productId, basePlanId) = (call.parameter(0), call.parameter(1))
      guard productId != "-" || basePlanId == "-" else {
        throw PlayError.invalidArgument("Invalid value at 'basePlanId': of all subscriptions it is '-'.")
      }
      let found = await products(call, areSubscriptions: true).filter {
        [$0.productIdentifier, "-"].contains(productId) && [$0.basePlanId, "-"].contains(basePlanId)
      }
      guard productId == "-" || !found.isEmpty else { throw PlayError.productNotFound }
      let (shown, next) = try page(of: found.flatMap { offers(of: $0, call.play) }, call)
      return PlayCall.json(
        PlayCatalogOffersResponse().with {
          $0.subscriptionOffers = shown.isEmpty ? nil : Array(shown)
          $0.nextPageToken = next
        })
    },
    PlayRoute("GET", "oneTimeProducts", .monetization) { call in
      let (products, next) = try await page(of: products(call, areSubscriptions: false), call)
      return PlayCall.json(
        PlayCatalogProductsResponse().with {
          $0.oneTimeProducts = products.isEmpty ? nil : products.map { oneTimeProduct($0, call.play) }
          $0.nextPageToken = next
        })
    },
    PlayRoute("GET", "oneTimeProducts/{}", .monetization) { call in
      let found = await products(call, areSubscriptions: false).first {
        $0.productIdentifier == call.parameter(0)
      }
      guard let found else { throw PlayError.productNotFound }
      return PlayCall.json(oneTimeProduct(found, call.play))
    },
  ]

  /// The products of one kind with their present prices.
  private static func products(_ call: PlayCall, areSubscriptions: Bool) async -> [CatalogProduct] {
    let store = call.ledger.store
    var found: [CatalogProduct] = []
    for product in store.catalog.products where (product.subscription != nil) == areSubscriptions {
      found.append(await store.catalogProduct(product.productIdentifier) ?? product)
    }
    return found
  }

  /// The elements of the page that a call names, and the token of the next one.
  private static func page<Element>(
    of elements: [Element], _ call: PlayCall
  ) throws(PlayError) -> (ArraySlice<Element>, next: String?) {
    let size = Int(min(try call.integer("pageSize", in: 0...Int64(Int32.max)) ?? 50, 1000))
    let start = Int(try call.integer("pageToken", in: 0...Int64(elements.count)) ?? 0)
    let end = min(start + (size == 0 ? 50 : size), elements.count)
    return (elements[start..<end], end < elements.count ? String(end) : nil)
  }

  private static func subscription(_ product: CatalogProduct, _ play: EmulatedPlayStore)
    -> PlayCatalogSubscription
  {
    let plan = PlayBasePlan().with {
      $0.basePlanId = product.basePlanId
      $0.state = product.state
      $0.autoRenewingBasePlanType = PlayBasePlanPeriod().with {
        $0.billingPeriodDuration = product.subscription?.period.description
      }
      $0.regionalConfigs = [
        PlayRegionalBasePlan().with {
          $0.regionCode = play.region
          $0.newSubscriberAvailability = product.isForSale
          $0.price = product.money
        }
      ]
    }
    return PlayCatalogSubscription().with {
      $0.packageName = play.packageName
      $0.productId = product.productIdentifier
      $0.basePlans = [plan]
      $0.listings = product.listings
    }
  }

  private static func offers(of product: CatalogProduct, _ play: EmulatedPlayStore) -> [PlayCatalogOffer] {
    (product.subscription?.offers ?? []).map { offer in
      let isFree = offer.paymentMode == .freeTrial
      let price = PlayRegionalPhase().with {
        $0.regionCode = play.region
        $0.free = isFree ? EmptyObject() : nil
        $0.price =
          isFree ? nil : Milliunits.of(offer.price).map { PlayMoney(thousandths: $0, product.currency) }
      }
      // What is paid up front is one period of the whole length.
      let isOnce = offer.paymentMode == .payUpFront
      let whole = SubscriptionPeriod(offer.period.count * offer.periodCount, offer.period.unit)
      return PlayCatalogOffer().with {
        $0.packageName = play.packageName
        $0.productId = product.productIdentifier
        $0.basePlanId = product.basePlanId
        $0.offerId = offer.identifier ?? "introductory"
        $0.state = product.state
        $0.phases = [
          PlayCatalogPhase().with {
            $0.recurrenceCount = isOnce ? 1 : Int64(offer.periodCount)
            $0.duration = (isOnce ? whole : nil)?.description ?? offer.period.description
            $0.regionalConfigs = [price]
          }
        ]
        $0.regionalConfigs = [
          PlayRegionalOffer().with {
            $0.regionCode = play.region
            $0.newSubscriberAvailability = product.isForSale
          }
        ]
      }
    }
  }

  private static func oneTimeProduct(_ product: CatalogProduct, _ play: EmulatedPlayStore)
    -> PlayCatalogProduct
  {
    let option = PlayPurchaseOption().with {
      $0.purchaseOptionId = "buy"
      $0.state = product.state
      $0.buyOption = PlayBuyOption().with {
        $0.legacyCompatible = true
        $0.multiQuantityEnabled = product.type == .consumable
      }
      $0.regionalPricingAndAvailabilityConfigs = [
        PlayRegionalPrice().with {
          $0.regionCode = play.region
          $0.price = product.money
          $0.availability = product.isForSale ? .available : .noLonger
        }
      ]
    }
    return PlayCatalogProduct().with {
      $0.packageName = play.packageName
      $0.productId = product.productIdentifier
      $0.listings = product.listings
      $0.purchaseOptions = [option]
    }
  }
}

extension CatalogProduct {
  /// The base plan of a subscription: its period.
  var basePlanId: String? { subscription?.period.description.lowercased() }

  /// The texts in each language; the name that developers see, or the identifier, if there are none.
  var listings: [PlayCatalogListing] {
    guard !localizations.isEmpty else {
      return [
        PlayCatalogListing().with {
          $0.languageCode = "en-US"
          $0.title = referenceName.isEmpty ? productIdentifier : referenceName
        }
      ]
    }
    return localizations.map { text in
      PlayCatalogListing().with {
        $0.languageCode = String(text.locale.map { $0 == "_" ? "-" : $0 })
        $0.title = text.title
        $0.description = text.description.isEmpty ? nil : text.description
      }
    }
  }

  fileprivate var state: PlayCatalogState { isForSale ? .active : .inactive }

  fileprivate var money: PlayMoney? { Milliunits.of(price).map { PlayMoney(thousandths: $0, currency) } }
}
