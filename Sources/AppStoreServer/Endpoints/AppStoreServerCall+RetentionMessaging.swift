// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Retention Messaging: images, messages, which message is shown.
extension AppStoreServerCall where Response == NoContent, Value == NoContent {
  /// Uploads an image.
  ///
  /// - Parameters:
  ///   - png: The image, a PNG file.
  ///   - identifier: A UUID that no other image has.
  ///   - size: What it is for; a message's image where `nil`.
  /// - Returns: The call.
  public static func uploadImage(
    _ png: [UInt8], identifier: UUIDString, size: RetentionImageSize? = nil
  ) -> Self {
    var request = AppStoreServerRequest(
      identifier.rawValue, query: size.map { [("imageSize", $0.rawValue)] } ?? [])
    request.body = .png(png)
    request.limits.requireUUID(identifier, at: "imageIdentifier")
    // The signature of PNG (RFC 2083 section 3.1).
    request.limits.require(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), at: "body",
      "It must be a PNG file.")
    return Self(.uploadImage, request)
  }

  /// Deletes an image that no message uses.
  public static func deleteImage(_ identifier: UUIDString) -> Self {
    Self(
      .deleteImage,
      AppStoreServerRequest(identifier.rawValue)
        .checking { $0.requireUUID(identifier, at: "imageIdentifier") })
  }

  /// Uploads a message under a UUID that no other message has.
  public static func uploadMessage(_ message: RetentionMessage, identifier: UUIDString) -> Self {
    Self(
      .uploadMessage,
      AppStoreServerRequest(identifier.rawValue, json: message)
        .checking { $0.requireUUID(identifier, at: "messageIdentifier") })
  }

  /// Deletes a message.
  public static func deleteMessage(_ identifier: UUIDString) -> Self {
    Self(
      .deleteMessage,
      AppStoreServerRequest(identifier.rawValue)
        .checking { $0.requireUUID(identifier, at: "messageIdentifier") })
  }

  /// Sets the message that is shown unless the realtime URL names another.
  ///
  /// - Parameters:
  ///   - messageIdentifier: An approved message.
  ///   - productId: The product of the subscription.
  ///   - locale: The customer's locale, such as `en-US`.
  /// - Returns: The call.
  public static func setDefaultMessage(
    _ messageIdentifier: UUIDString, forProduct productId: String, locale: String
  ) -> Self {
    let message = DefaultRetentionMessage(messageIdentifier: messageIdentifier)
    return Self(.setDefaultMessage, AppStoreServerRequest(productId, locale, json: message))
  }

  /// Removes the default message.
  public static func deleteDefaultMessage(forProduct productId: String, locale: String) -> Self {
    Self(.deleteDefaultMessage, AppStoreServerRequest(productId, locale))
  }

  /// Sets the URL at which the App Store asks which message to show: HTTPS, at most 256 characters.
  public static func setRealtimeURL(_ url: String) -> Self {
    Self(.setRealtimeURL, AppStoreServerRequest(json: RetentionRealtimeURL(realtimeURL: url)))
  }

  /// Removes the realtime URL.
  public static func deleteRealtimeURL() -> Self { Self(.deleteRealtimeURL) }
}

extension AppStoreServerCall
where Response == RetentionImageListResponse, Value == RetentionImageListResponse {
  /// All images that were uploaded.
  public static func images() -> Self { Self(.imageList) }
}

extension AppStoreServerCall
where Response == RetentionMessageListResponse, Value == RetentionMessageListResponse {
  /// All messages that were uploaded.
  public static func messages() -> Self { Self(.messageList) }
}

extension AppStoreServerCall where Response == DefaultRetentionMessage, Value == DefaultRetentionMessage {
  /// The default message.
  public static func defaultMessage(forProduct productId: String, locale: String) -> Self {
    Self(.defaultMessage, AppStoreServerRequest(productId, locale))
  }
}

extension AppStoreServerCall where Response == RetentionRealtimeURL, Value == RetentionRealtimeURL {
  /// The realtime URL.
  public static func realtimeURL() -> Self { Self(.realtimeURL) }
}

extension AppStoreServerCall where Response == PerformanceTestResponse, Value == PerformanceTestResponse {
  /// Begins a performance test of the realtime URL, in the sandbox.
  ///
  /// - Parameter originalTransactionId: A sandbox subscription to test with, by its first transaction.
  /// - Returns: The call; its answer has the test's identifier, and what it does.
  public static func startPerformanceTest(of originalTransactionId: String) -> Self {
    let request = PerformanceTestRequest(originalTransactionId: originalTransactionId)
    return Self(.startPerformanceTest, AppStoreServerRequest(json: request))
  }
}

extension AppStoreServerCall
where Response == PerformanceTestResultResponse, Value == PerformanceTestResultResponse {
  /// The result of a performance test.
  public static func performanceTestResult(_ requestId: String) -> Self {
    Self(.performanceTestResult, AppStoreServerRequest(requestId))
  }
}
