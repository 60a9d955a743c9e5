// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import AppStoreServer
import ReceiptCodec
import Testing

extension EndpointCall {
  static let externalPurchases: [EndpointCall] = [
    EndpointCall(
      .sendExternalPurchaseReport, .put, "/externalPurchase/v1/reports",
      json: #"{"requestIdentifier":"1F0C6B7A-9a3e-4f43-8d15-3b8e3a2f7c11","externalPurchaseId":"SANDBOX_1","#
        + #""status":"NO_LINE_ITEM"}"#,
      answer: #"{"requestIdentifier":"1F0C6B7A-9a3e-4f43-8d15-3b8e3a2f7c11"}"#
    ) { client throws(AppStoreServerError) in
      let report = ExternalPurchaseReport(
        requestIdentifier: uuid, externalPurchaseId: "SANDBOX_1", status: .noLineItem)
      #expect(try await client.content(.sendExternalPurchaseReport(report)).requestIdentifier == uuid)
    },
    EndpointCall(
      .externalPurchaseReport, .get, "/externalPurchase/v1/reports/1F0C6B7A-9a3e-4f43-8d15-3b8e3a2f7c11",
      answer: #"{"report":{"requestIdentifier":"r","externalPurchaseId":"e","status":"SOMETHING_NEW"}}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.externalPurchaseReport(uuid))
      #expect(response.report?.status == .unknown("SOMETHING_NEW"))
    },
  ]
}

/// Reports of external purchases: what is sent, and what is refused before.
@Suite struct ExternalPurchaseTests {
  private static func item(
    _ change: (inout ExternalPurchaseLineItem) -> Void = { _ in }
  ) -> ExternalPurchaseLineItem {
    ExternalPurchaseLineItem(
      lineItemId: "l", creationDate: Timestamp(millisecondsSince1970: 1_706_047_488_039), eventType: .buy,
      pricingCurrency: "EUR", reportingCurrency: "EUR", amountTaxInclusive: 10_000, amountTaxExclusive: 8000,
      taxAmount: 2000, taxCountry: "ESP", netAmountTaxExclusive: 8000
    ).with {
      $0.productType = .oneTimeBuy
      $0.productIdentifier = "p"
      $0.quantity = 1
      change(&$0)
    }
  }

  private static func report(
    _ status: ExternalPurchaseStatus, _ items: [ExternalPurchaseLineItem]?
  ) -> ExternalPurchaseReport {
    ExternalPurchaseReport(
      requestIdentifier: EndpointCall.uuid, externalPurchaseId: "SANDBOX_1", status: status
    ).with { $0.lineItems = items }
  }

  private static let items: [(ExternalPurchaseLineItem, String?)] = [
    (item(), nil),
    (item { $0.quantity = nil }, "productType"),
    (item { $0.productIdentifier = nil }, "productType"),
    (item { $0.erroneouslySubmitted = true }, "restatement"),
    (
      item {
        $0.erroneouslySubmitted = true
        $0.restatement = true
      }, nil
    ),
    (item { $0.pricingCurrency = "ALL" }, "exchangeRate"),
    (
      item {
        $0.pricingCurrency = "ALL"
        $0.exchangeRate = 0.0101
      }, nil
    ),
    (item { $0.exchangeRate = 1 }, "exchangeRate"),
    (item { $0.eventType = .refund }, "referenceLineItemId"),
    (
      item {
        $0.eventType = .refund
        $0.referenceLineItemId = "k"
        $0.productType = nil
      }, nil
    ),
    (item { $0.productType = .subscription }, "subscriptionEvent"),
    (
      item {
        $0.productType = .subscription
        $0.subscriptionEvent = .renewal
        $0.subscriptionStartDate = Timestamp(secondsSince1970: 1)
        $0.subscriptionEndDate = Timestamp(secondsSince1970: 2)
        $0.subscriptionDaysOfPaidService = 0
      }, nil
    ),
    (item { $0.lineItemId = "" }, "lineItemId"),
  ]

  @Test("a report whose parts do not fit is not sent")
  func limits() async throws {
    var cases: [(ExternalPurchaseReport, String?)] = Self.items.map { item, member in
      (Self.report(.lineItem, [item]), member.map { "$.lineItems[0].\($0)" })
    }
    for status in [ExternalPurchaseStatus.noLineItem, .unrecognizedToken, .duplicateToken] {
      cases += [
        (Self.report(status, nil), nil), (Self.report(status, []), "$.lineItems"),
        (Self.report(status, [Self.item()]), "$.lineItems"),
      ]
    }
    cases += [(Self.report(.lineItem, nil), "$.lineItems"), (Self.report(.lineItem, []), "$.lineItems")]
    for (report, place) in cases {
      let transport = FakeTransport(.json("{}"))
      let client = try StoreServer.client(transport)
      let error = await storeError { () async throws(AppStoreServerError) in
        try await client.send(.sendExternalPurchaseReport(report))
      }
      guard let place else {
        #expect(error == nil)
        continue
      }
      guard case .invalidRequest(place: place, message: _) = error?.cause else {
        Issue.record("\(place): \(String(describing: error))")
        continue
      }
      #expect(transport.requests.isEmpty)
    }
  }

  @Test("what was reported is retrieved as it was, and not accepted twice")
  func roundTrip() async throws {
    let fixture = try await EmulatorFixture()
    let client = try fixture.client
    let report = Self.report(.lineItem, Self.items.filter { $0.1 == nil }.map(\.0))
    #expect(try await client.send(.sendExternalPurchaseReport(report)).requestIdentifier == EndpointCall.uuid)
    #expect(try await client.send(.externalPurchaseReport(EndpointCall.uuid)) == report)
    let again = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.sendExternalPurchaseReport(report))
    }
    #expect(again?.code?.httpStatus == 400)
  }
}
