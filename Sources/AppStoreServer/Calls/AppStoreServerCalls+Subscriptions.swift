// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Extension of renewal dates.
extension AppStoreServerCalls {
  /// Extends the renewal date of one subscription. At most two extensions in 365 days are allowed, and each
  /// counts, so the request is sent again only when the App Store certainly did nothing.
  ///
  /// - Parameters:
  ///   - originalTransactionId: The subscription, by its first transaction.
  ///   - request: By how much, why, and an identifier of at most 128 characters.
  /// - Returns: Whether it was extended, and to when.
  /// - Throws: ``AppStoreServerError``.
  public func extendRenewalDate(
    of originalTransactionId: String, _ request: ExtendRenewalDateRequest
  ) async throws(AppStoreServerError) -> ExtendRenewalDateResponse {
    let limits = RequestLimits(.extendRenewalDate)
    try limits.demandExtension(byDays: request.extendByDays)
    try limits.demand(
      !request.requestIdentifier.isEmpty, at: "$.requestIdentifier", "It must not be empty.")
    try limits.demand(request.requestIdentifier, hasAtMost: 128, at: "$.requestIdentifier")
    let call = try AppStoreServerCall(
      .extendRenewalDate, originalTransactionId, body: .json(request.encodedJSON()))
    return try await raw.send(call, as: ExtendRenewalDateResponse.self).value
  }

  /// Extends the renewal dates of all eligible subscribers of a product. The App Store acts once for each request
  /// identifier.
  public func massExtendRenewalDate(
    _ request: MassExtendRenewalDateRequest
  ) async throws(AppStoreServerError) -> MassExtendRenewalDateResponse {
    let limits = RequestLimits(.massExtendRenewalDate)
    try limits.demandExtension(byDays: request.extendByDays)
    try limits.demandUUID(request.requestIdentifier, at: "$.requestIdentifier")
    try limits.demand(
      request.storefrontCountryCodes?.isEmpty != true, at: "$.storefrontCountryCodes",
      "It must not be empty; leave it out for all storefronts.")
    let call = try AppStoreServerCall(.massExtendRenewalDate, body: .json(request.encodedJSON()))
    return try await raw.send(call, as: MassExtendRenewalDateResponse.self).value
  }

  /// How far a mass extension has come.
  public func massExtendRenewalDateStatus(
    productId: String, requestIdentifier: UUIDString
  ) async throws(AppStoreServerError) -> MassExtendRenewalDateStatusResponse {
    try RequestLimits(.massExtendRenewalDateStatus)
      .demandUUID(requestIdentifier, at: "requestIdentifier")
    let call = try AppStoreServerCall(.massExtendRenewalDateStatus, productId, requestIdentifier.rawValue)
    return try await raw.send(call, as: MassExtendRenewalDateStatusResponse.self).value
  }
}
