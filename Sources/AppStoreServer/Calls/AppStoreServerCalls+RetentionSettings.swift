// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Retention Messaging: which message is shown, and tests of the realtime URL.
extension AppStoreServerCalls {
  /// Sets the message that is shown unless the realtime URL names another.
  ///
  /// - Parameters:
  ///   - messageIdentifier: An approved message.
  ///   - productId: The product of the subscription.
  ///   - locale: The customer's locale, such as `en-US`.
  /// - Throws: ``AppStoreServerError``.
  public func setDefaultMessage(
    _ messageIdentifier: UUIDString, forProduct productId: String, locale: String
  ) async throws(AppStoreServerError) {
    try RequestLimits(.setDefaultMessage).demandUUID(messageIdentifier, at: "$.messageIdentifier")
    let message = DefaultRetentionMessage(messageIdentifier: messageIdentifier)
    let call = try AppStoreServerCall(
      .setDefaultMessage, productId, locale, body: .json(message.encodedJSON()))
    try await raw.send(call)
  }

  /// Removes the default message.
  public func deleteDefaultMessage(
    forProduct productId: String, locale: String
  ) async throws(AppStoreServerError) {
    try await raw.send(AppStoreServerCall(.deleteDefaultMessage, productId, locale))
  }

  /// The default message.
  public func defaultMessage(
    forProduct productId: String, locale: String
  ) async throws(AppStoreServerError) -> DefaultRetentionMessage {
    try await raw.send(
      AppStoreServerCall(.defaultMessage, productId, locale), as: DefaultRetentionMessage.self
    ).value
  }

  /// Sets the URL at which the App Store asks which message to show: HTTPS, at most 256 characters.
  public func setRealtimeURL(_ url: String) async throws(AppStoreServerError) {
    let limits = RequestLimits(.setRealtimeURL)
    try limits.demand(!url.isEmpty, at: "$.realtimeURL", "It must not be empty.")
    try limits.demand(url, hasAtMost: 256, at: "$.realtimeURL")
    let body = RetentionRealtimeURL(realtimeURL: url).encodedJSON()
    try await raw.send(AppStoreServerCall(.setRealtimeURL, body: .json(body)))
  }

  /// Removes the realtime URL.
  public func deleteRealtimeURL() async throws(AppStoreServerError) {
    try await raw.send(AppStoreServerCall(.deleteRealtimeURL))
  }

  /// The realtime URL.
  public func realtimeURL() async throws(AppStoreServerError) -> RetentionRealtimeURL {
    try await raw.send(AppStoreServerCall(.realtimeURL), as: RetentionRealtimeURL.self).value
  }

  /// Begins a performance test of the realtime URL, in the sandbox.
  ///
  /// - Parameter originalTransactionId: A sandbox subscription to test with, by its first transaction.
  /// - Returns: The test's identifier, and what it does.
  /// - Throws: ``AppStoreServerError``.
  public func startPerformanceTest(
    of originalTransactionId: String
  ) async throws(AppStoreServerError) -> PerformanceTestResponse {
    let body = PerformanceTestRequest(originalTransactionId: originalTransactionId).encodedJSON()
    return try await raw.send(
      AppStoreServerCall(.startPerformanceTest, body: .json(body)), as: PerformanceTestResponse.self
    ).value
  }

  /// What a performance test found.
  public func performanceTestResult(
    _ requestId: String
  ) async throws(AppStoreServerError) -> PerformanceTestResultResponse {
    try await raw.send(
      AppStoreServerCall(.performanceTestResult, requestId), as: PerformanceTestResultResponse.self
    ).value
  }
}
