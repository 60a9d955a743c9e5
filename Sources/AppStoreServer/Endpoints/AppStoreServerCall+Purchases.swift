// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What the developer reports about a purchase.
extension AppStoreServerCall where Response == NoContent, Value == NoContent {
  /// Answers a `CONSUMPTION_REQUEST` notification: what is known of a purchase whose refund was requested.
  public static func sendConsumption(_ request: ConsumptionRequest, of transactionId: String) -> Self {
    Self(.sendConsumption, AppStoreServerRequest(transactionId, json: request))
  }

  /// As ``sendConsumption(_:of:)``, for consumables alone: the version that came before it.
  public static func sendConsumptionV1(_ request: ConsumptionRequestV1, of transactionId: String) -> Self {
    Self(.sendConsumptionV1, AppStoreServerRequest(transactionId, json: request))
  }

  /// Sets the account to which a purchase belongs.
  ///
  /// - Parameters:
  ///   - appAccountToken: The app's own identifier of the account, a UUID.
  ///   - originalTransactionId: The purchase, by its first transaction.
  /// - Returns: The call.
  public static func setAppAccountToken(
    _ appAccountToken: UUIDString, of originalTransactionId: String
  ) -> Self {
    let request = UpdateAppAccountTokenRequest(appAccountToken: appAccountToken)
    return Self(.setAppAccountToken, AppStoreServerRequest(originalTransactionId, json: request))
  }

  /// Finishes a transaction: its content was delivered.
  public static func finish(_ transactionId: String) -> Self {
    Self(.finish, AppStoreServerRequest(transactionId))
  }
}
