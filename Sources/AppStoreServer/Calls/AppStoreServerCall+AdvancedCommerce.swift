// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A request of the Advanced Commerce API, with the texts in it whose length Apple limits.
protocol AdvancedCommerceServerRequest: JSONObject {
  var requestInfo: AdvancedCommerceRequestInfo { get }
  var limitedTexts: [AdvancedCommerceLimitedText] { get }
}

/// A text whose length Apple limits, and where it stands.
struct AdvancedCommerceLimitedText {
  let place: String
  let text: String?
  let limit: Int

  static func description(_ text: String?, at place: String) -> AdvancedCommerceLimitedText {
    AdvancedCommerceLimitedText(place: place + ".description", text: text, limit: 45)
  }

  static func displayName(_ text: String?, at place: String) -> AdvancedCommerceLimitedText {
    AdvancedCommerceLimitedText(place: place + ".displayName", text: text, limit: 30)
  }

  static func sku(_ text: String?, named name: String = "SKU", at place: String)
    -> AdvancedCommerceLimitedText
  {
    AdvancedCommerceLimitedText(place: place + "." + name, text: text, limit: 128)
  }
}

extension AppStoreServerCall {
  static func advancedCommerce(
    _ endpoint: AppStoreServerEndpoint, _ transactionId: String, _ request: some AdvancedCommerceServerRequest
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    let limits = RequestLimits(endpoint)
    try limits.demandUUID(
      request.requestInfo.requestReferenceId, at: "$.requestInfo.requestReferenceId")
    for text in request.limitedTexts { try limits.demand(text.text, hasAtMost: text.limit, at: text.place) }
    return try AppStoreServerCall(endpoint, transactionId, body: .json(request.encodedJSON()))
  }
}

extension AdvancedCommerceSubscriptionCancelRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] { [] }
}

extension AdvancedCommerceSubscriptionRevokeRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] { [] }
}

extension AdvancedCommerceRefundRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] {
    items.enumerated().map { .sku($1.SKU, at: "$.items[\($0)]") }
  }
}

extension AdvancedCommercePriceChangeRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] {
    items.enumerated().flatMap { index, item in
      let dependent = (item.dependentSKUs ?? []).enumerated().map {
        AdvancedCommerceLimitedText.sku($1, named: "dependentSKUs[\($0)]", at: "$.items[\(index)]")
      }
      return [.sku(item.SKU, at: "$.items[\(index)]")] + dependent
    }
  }
}

extension AdvancedCommerceMetadataChangeRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] {
    let own: [AdvancedCommerceLimitedText] = [
      .description(descriptors?.description, at: "$.descriptors"),
      .displayName(descriptors?.displayName, at: "$.descriptors"),
    ]
    return (items ?? []).enumerated().reduce(into: own) { texts, element in
      let place = "$.items[\(element.offset)]"
      texts += [
        .sku(element.element.currentSKU, named: "currentSKU", at: place),
        .sku(element.element.SKU, at: place),
        .description(element.element.description, at: place),
        .displayName(element.element.displayName, at: place),
      ]
    }
  }
}

extension AdvancedCommerceMigrationRequest: AdvancedCommerceServerRequest {
  var limitedTexts: [AdvancedCommerceLimitedText] {
    [
      .description(descriptors.description, at: "$.descriptors"),
      .displayName(descriptors.displayName, at: "$.descriptors"),
    ] + Self.limitedTexts(of: items, at: "$.items")
      + Self.limitedTexts(of: renewalItems ?? [], at: "$.renewalItems")
  }

  private static func limitedTexts(
    of items: [AdvancedCommerceMigrationItem], at place: String
  ) -> [AdvancedCommerceLimitedText] {
    items.enumerated().flatMap { index, item -> [AdvancedCommerceLimitedText] in
      let place = "\(place)[\(index)]"
      return [
        .sku(item.SKU, at: place), .description(item.description, at: place),
        .displayName(item.displayName, at: place),
      ]
    }
  }
}
