// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What the developer tells of a purchase.
extension AppStoreServerCalls {
  /// Answers a `CONSUMPTION_REQUEST` notification: what is known of a purchase whose refund was asked for.
  public func sendConsumption(
    _ request: ConsumptionRequest, of transactionId: String
  ) async throws(AppStoreServerError) {
    let limits = RequestLimits(.sendConsumption)
    try limits.demand(
      request.customerConsented, at: "$.customerConsented",
      "Nothing may be told of a customer who did not consent.")
    if let percentage = request.consumptionPercentage {
      let place = "$.consumptionPercentage"
      try limits.demand(
        (0...100_000).contains(percentage), at: place,
        "It must be 0 to 100000, in thousandths of a percent, not \(percentage).")
      try limits.demand(
        percentage == 0 || request.deliveryStatus == .delivered, at: place,
        "It must be 0 where nothing was delivered.")
      try limits.demand(
        request.refundPreference != .grantProrated || (1...99_999).contains(percentage), at: place,
        "For a prorated refund it must be 1 to 99999, not \(percentage).")
    }
    let call = try AppStoreServerCall(.sendConsumption, transactionId, body: .json(request.encodedJSON()))
    try await raw.send(call)
  }

  /// As ``sendConsumption(_:of:)``, for consumables alone, in the way that came before it.
  public func sendConsumptionV1(
    _ request: ConsumptionRequestV1, of transactionId: String
  ) async throws(AppStoreServerError) {
    let limits = RequestLimits(.sendConsumptionV1)
    try limits.demand(
      request.customerConsented == true, at: "$.customerConsented",
      "Nothing may be told of a customer who did not consent.")
    if let token = request.appAccountToken, !token.rawValue.isEmpty {
      try limits.demandUUID(token, at: "$.appAccountToken")
    }
    let call = try AppStoreServerCall(.sendConsumptionV1, transactionId, body: .json(request.encodedJSON()))
    try await raw.send(call)
  }

  /// Sets the account to which a purchase belongs.
  ///
  /// - Parameters:
  ///   - appAccountToken: The app's own identifier of the account, a UUID.
  ///   - originalTransactionId: The purchase, by its first transaction.
  /// - Throws: ``AppStoreServerError``.
  public func setAppAccountToken(
    _ appAccountToken: UUIDString, of originalTransactionId: String
  ) async throws(AppStoreServerError) {
    try RequestLimits(.setAppAccountToken).demandUUID(appAccountToken, at: "$.appAccountToken")
    let request = UpdateAppAccountTokenRequest(appAccountToken: appAccountToken)
    let call = try AppStoreServerCall(
      .setAppAccountToken, originalTransactionId, body: .json(request.encodedJSON()))
    try await raw.send(call)
  }

  /// Finishes a transaction: its content was delivered.
  public func finish(_ transactionId: String) async throws(AppStoreServerError) {
    try await raw.send(AppStoreServerCall(.finish, transactionId))
  }

  /// Asks for a notification of the type `TEST`, which goes to the app's URL for notifications.
  public func requestTestNotification() async throws(AppStoreServerError) -> SendTestNotificationResponse {
    try await raw.send(AppStoreServerCall(.requestTestNotification), as: SendTestNotificationResponse.self)
      .value
  }
}
