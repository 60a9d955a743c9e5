// SPDX-License-Identifier: Apache-2.0

import AppStoreServer
import ReceiptCodec
import ReceiptSigning
import Testing

/// The requests of the Advanced Commerce API that an app hands to StoreKit, typed and checked.
@Suite struct AdvancedCommerceInAppTests {
  private static let info = AdvancedCommerceRequestInfo(requestReferenceId: EndpointCall.uuid).with {
    $0.appAccountToken = UUIDString(rawValue: "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f")
    $0.consistencyToken = "c"
  }
  private static let infoJSON =
    #""version":"1","requestInfo":{"requestReferenceId":"\#(EndpointCall.uuid.rawValue)","#
    + #""appAccountToken":"7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f","consistencyToken":"c"}"#

  private static func modification(
    _ change: (inout AdvancedCommerceSubscriptionModifyInAppRequest) -> Void
  ) -> AdvancedCommerceInAppRequest {
    .modifySubscription(
      AdvancedCommerceSubscriptionModifyInAppRequest(
        requestInfo: info, transactionId: "7", retainBillingCycle: true
      ).with(change))
  }

  private static func changed(
    _ sku: String = "old", _ effective: AdvancedCommerceEffective = .immediately, prorated: Int64? = nil
  ) -> AdvancedCommerceSubscriptionModifyChangeItem {
    AdvancedCommerceSubscriptionModifyChangeItem(
      currentSKU: sku, sku: "new", displayName: "N", description: "D", price: 4990, effective: effective,
      reason: .upgrade
    ).with { $0.proratedPrice = prorated }
  }

  private static func added(_ sku: String) -> AdvancedCommerceSubscriptionModifyAddItem {
    AdvancedCommerceSubscriptionModifyAddItem(sku: sku, displayName: "N", description: "D", price: 1)
  }

  private static func created(
    _ skus: [String], offer: AdvancedCommerceRequestOffer? = nil
  ) -> AdvancedCommerceInAppRequest {
    .createSubscription(
      AdvancedCommerceSubscriptionCreateRequest(
        requestInfo: info, currency: "USD", taxCode: "C003-00-1",
        descriptors: AdvancedCommerceRequestDescriptors(description: "D", displayName: "N"),
        period: .oneMonth,
        items: skus.map {
          AdvancedCommerceSubscriptionCreateItem(sku: $0, displayName: "N", description: "D", price: 4990)
            .with { $0.offer = offer }
        }))
  }

  private static func charged(
    _ change: (inout AdvancedCommerceOneTimeChargeCreateRequest) -> Void = { _ in }
  ) -> AdvancedCommerceInAppRequest {
    .createOneTimeCharge(
      AdvancedCommerceOneTimeChargeCreateRequest(
        requestInfo: info, currency: "USD", taxCode: "C003-00-1",
        item: AdvancedCommerceOneTimeChargeItem(
          sku: "coins", displayName: "Coins", description: "A hundred", price: 4990)
      ).with(change))
  }

  private static func reactivated(_ skus: [String]?) -> AdvancedCommerceInAppRequest {
    .reactivateSubscription(
      AdvancedCommerceSubscriptionReactivateInAppRequest(requestInfo: info, transactionId: "7").with {
        $0.items = skus?.map { AdvancedCommerceSubscriptionReactivateItem(sku: $0) }
      })
  }

  @Test("each request is written as Apple documents it")
  func content() throws {
    let expected: [(AdvancedCommerceInAppRequest, String)] = [
      (
        Self.charged {
          $0.storefront = "USA"
          $0.unknownFields = [JSONMember(name: "operation", value: .string("x"))]
        },
        #"{"operation":"CREATE_ONE_TIME_CHARGE",\#(Self.infoJSON),"storefront":"USA","currency":"USD","#
          + #""taxCode":"C003-00-1","item":{"SKU":"coins","displayName":"Coins","description":"A hundred","#
          + #""price":4990}}"#
      ),
      (
        Self.created(
          ["a"],
          offer: AdvancedCommerceRequestOffer(
            period: .oneWeek, periodCount: 2, price: 0, reason: .acquisition)),
        #"{"operation":"CREATE_SUBSCRIPTION",\#(Self.infoJSON),"currency":"USD","taxCode":"C003-00-1","#
          + #""descriptors":{"description":"D","displayName":"N"},"period":"P1M","items":[{"SKU":"a","#
          + #""displayName":"N","description":"D","price":4990,"offer":{"period":"P1W","periodCount":2,"#
          + #""price":0,"reason":"ACQUISITION"}}]}"#
      ),
      (
        Self.modification {
          $0.changeItems = [Self.changed(prorated: 10)]
          $0.removeItems = [AdvancedCommerceSubscriptionModifyRemoveItem(sku: "gone")]
        },
        #"{"operation":"MODIFY_SUBSCRIPTION",\#(Self.infoJSON),"transactionId":"7","retainBillingCycle":true,"#
          + #""changeItems":[{"currentSKU":"old","SKU":"new","displayName":"N","description":"D","price":4990,"#
          + #""effective":"IMMEDIATELY","reason":"UPGRADE","proratedPrice":10}],"removeItems":[{"SKU":"gone"}]}"#
      ),
      (
        Self.reactivated(["a"]),
        #"{"operation":"REACTIVATE_SUBSCRIPTION",\#(Self.infoJSON),"transactionId":"7","items":[{"SKU":"a"}]}"#
      ),
    ]
    for (request, json) in expected {
      let encoded = try AdvancedCommerceRequest(request).encoded
      #expect(String(decoding: encoded, as: UTF8.self) == json)
      let signer = try StoreServer.signer()
      #expect(
        try signer.advancedCommerceRequest(
          AdvancedCommerceRequest(request), nonce: EndpointCall.uuid, issuedAt: StoreServer.now
        ).split(separator: ".").count == 3)
    }
  }

  @Test("a request that Apple would refuse is not signed, and the place is named")
  func limits() throws {
    let period = { (effective: AdvancedCommerceEffective) in
      AdvancedCommerceSubscriptionModifyPeriodChange(period: .oneYear, effective: effective)
    }
    let cases: [(AdvancedCommerceInAppRequest, String?)] = [
      (Self.charged(), nil), (Self.charged { $0.item.price = -1 }, "$.item.price"),
      (Self.charged { $0.taxCode = "" }, "$.taxCode"), (Self.charged { $0.currency = "" }, "$.currency"),
      (Self.charged { $0.item.displayName = String(repeating: "x", count: 31) }, "$.item.displayName"),
      (
        Self.charged { $0.requestInfo.requestReferenceId = UUIDString(rawValue: "x") },
        "$.requestInfo.requestReferenceId"
      ),
      (Self.created([]), "$.items"), (Self.created(["a", "b"]), nil), (Self.created(["a", "a"]), "$.items"),
      (
        Self.created(
          ["a"],
          offer: AdvancedCommerceRequestOffer(period: .oneWeek, periodCount: 13, price: 0, reason: .winBack)),
        "$.items[0].offer.periodCount"
      ),
      (Self.modification { _ in }, "$"), (Self.modification { $0.addItems = [] }, "$.addItems"),
      (Self.modification { $0.addItems = [Self.added("a"), Self.added("b")] }, nil),
      (
        Self.modification {
          $0.addItems = [Self.added("a")]
          $0.changeItems = [Self.changed("a")]
        }, "$.changeItems"
      ),
      (Self.modification { $0.changeItems = [Self.changed(prorated: 10)] }, nil),
      (
        Self.modification { $0.changeItems = [Self.changed("old", .nextBillCycle, prorated: 10)] },
        "$.changeItems[0].proratedPrice"
      ),
      (Self.modification { $0.periodChange = period(.nextBillCycle) }, nil),
      (Self.modification { $0.periodChange = period(.immediately) }, "$.retainBillingCycle"),
      (
        Self.modification {
          $0.retainBillingCycle = false
          $0.periodChange = period(.immediately)
          $0.changeItems = [Self.changed("old", .nextBillCycle)]
        }, "$.changeItems[0].effective"
      ),
      (Self.reactivated(nil), nil), (Self.reactivated([]), "$.items"),
      (Self.reactivated(["a", "a"]), "$.items"),
    ]
    for (request, place) in cases {
      do throws(SigningError) {
        _ = try AdvancedCommerceRequest(request)
        #expect(place == nil, "accepted")
      } catch {
        #expect(error.code == .invalidValue)
        #expect(error.place == place)
      }
    }
  }

  @Test("a migration states its tax code")
  func migration() async throws {
    let transport = FakeTransport(.json("{}"))
    let request = AdvancedCommerceMigrationRequest(
      requestInfo: Self.info, targetProductId: "p",
      descriptors: AdvancedCommerceMigrationDescriptors(description: "D", displayName: "N"), items: [],
      taxCode: "")
    let client = try StoreServer.client(transport)
    let error = await storeError { () async throws(AppStoreServerError) in
      _ = try await client.send(.migrateSubscription("7", request))
    }
    guard case .invalidRequest("$.taxCode", _) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(transport.requests.isEmpty)
  }
}
