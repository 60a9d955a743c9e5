// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoint for consumption information about a purchase whose refund was requested.
enum ConsumptionEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v2/transactions/consumption/{}", sendVersion2),
    Route("PUT", "/inApps/v1/transactions/consumption/{}", sendVersion1),
  ]

  /// The transaction in the path, and the body with what both versions require.
  private static func read(_ call: EndpointCall) async throws -> (sale: StoreSaleRecord, body: JSONValue) {
    let sale = try await call.sale()
    let body = try call.body()
    guard body["customerConsented"]?.flag == true else { throw Refusal.invalidCustomerConsented }
    guard body["sampleContentProvided"]?.flag != nil else { throw Refusal.invalidSampleContentProvided }
    return (sale, body)
  }

  @Sendable private static func sendVersion2(_ call: EndpointCall) async throws -> RemoteResponse {
    let (record, body) = try await read(call)
    let delivery = body["deliveryStatus"]?.string ?? ""
    let undelivered = ["QUALITY_ISSUE", "WRONG_ITEM", "SERVER_OUTAGE", "OTHER"].map { "UNDELIVERED_\($0)" }
    guard (undelivered + ["DELIVERED"]).contains(delivery) else { throw Refusal.invalidDeliveryStatus }
    let preference = body["refundPreference"]
    let preferences = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]
    guard preference.map({ preferences.contains($0.string ?? "") }) ?? true else {
      throw Refusal.invalidRefundPreference
    }
    guard record.transaction.inAppOwnershipType != .familyShared else {
      throw Refusal.familyTransactionNotSupported
    }
    guard record.transaction.advancedCommerceInfo == nil else { throw Refusal.transactionTypeNotSupported }
    try check(
      percentage: body["consumptionPercentage"], isDelivered: delivery == "DELIVERED",
      isProrated: preference?.string == "GRANT_PRORATED", record.transaction)
    return try await keep(body, record, call)
  }

  private static func check(
    percentage value: JSONValue?, isDelivered: Bool, isProrated: Bool, _ transaction: JWSTransaction
  ) throws {
    guard let value else { return }
    guard transaction.type != .autoRenewableSubscription else {
      throw Refusal.consumptionPercentageNotSupported
    }
    guard let percentage = value.int64, 0...100_000 ~= percentage else {
      throw Refusal.consumptionPercentageOutOfRange
    }
    if isProrated, !(1...99_999 ~= percentage) { throw Refusal.consumptionPercentageOutOfRange }
    if !isDelivered, percentage != 0 { throw Refusal.undeliveredConsumptionPercentage }
  }

  @Sendable private static func sendVersion1(_ call: EndpointCall) async throws -> RemoteResponse {
    let (record, body) = try await read(call)
    let codes: [(name: String, greatest: Int64, error: Refusal)] = [
      ("consumptionStatus", 3, .invalidConsumptionStatus), ("platform", 2, .invalidPlatform),
      ("deliveryStatus", 5, .invalidDeliveryStatus), ("accountTenure", 7, .invalidAccountTenure),
      ("playTime", 7, .invalidPlayTime),
      ("lifetimeDollarsRefunded", 7, .invalidLifetimeDollarsRefunded),
      ("lifetimeDollarsPurchased", 7, .invalidLifetimeDollarsPurchased),
      ("userStatus", 4, .invalidUserStatus), ("refundPreference", 3, .invalidRefundPreference),
    ]
    for code in codes {
      guard let value = body[code.name] else { continue }
      guard let number = value.int64, 0...code.greatest ~= number else { throw code.error }
    }
    guard body["appAccountToken"].map({ $0.string == "" || $0.uuid != nil }) ?? true else {
      throw Refusal.invalidAppAccountToken
    }
    return try await keep(body, record, call)
  }

  private static func keep(
    _ body: JSONValue, _ sale: StoreSaleRecord, _ call: EndpointCall
  ) async throws -> RemoteResponse {
    try await call.purchases.addConsumption(body, of: sale.identifier)
    return .empty(status: 202)
  }
}
