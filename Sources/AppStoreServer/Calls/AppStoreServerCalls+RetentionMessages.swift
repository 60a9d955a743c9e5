// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Retention Messaging: images and messages.
extension AppStoreServerCalls {
  /// Uploads an image.
  ///
  /// - Parameters:
  ///   - png: The image, a PNG file.
  ///   - identifier: A UUID that no other image has.
  ///   - size: What it is for; a message's image where `nil`.
  /// - Throws: ``AppStoreServerError``.
  public func uploadImage(
    _ png: [UInt8], identifier: UUIDString, size: RetentionImageSize? = nil
  ) async throws(AppStoreServerError) {
    let limits = RequestLimits(.uploadImage)
    try limits.demandUUID(identifier, at: "imageIdentifier")
    // The signature of PNG (RFC 2083 section 3.1).
    try limits.demand(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), at: "body", "It must be a PNG file."
    )
    let call = try AppStoreServerCall(
      .uploadImage, identifier.rawValue, query: size.map { [("imageSize", $0.rawValue)] } ?? [],
      body: .png(png))
    try await raw.send(call)
  }

  /// Deletes an image that no message uses.
  public func deleteImage(_ identifier: UUIDString) async throws(AppStoreServerError) {
    try RequestLimits(.deleteImage).demandUUID(identifier, at: "imageIdentifier")
    try await raw.send(AppStoreServerCall(.deleteImage, identifier.rawValue))
  }

  /// All images that were uploaded.
  public func images() async throws(AppStoreServerError) -> RetentionImageListResponse {
    try await raw.send(AppStoreServerCall(.imageList), as: RetentionImageListResponse.self).value
  }

  /// Uploads a message.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - identifier: A UUID that no other message has.
  /// - Throws: ``AppStoreServerError``.
  public func uploadMessage(
    _ message: RetentionMessage, identifier: UUIDString
  ) async throws(AppStoreServerError) {
    let limits = RequestLimits(.uploadMessage)
    try limits.demandUUID(identifier, at: "messageIdentifier")
    try limits.demand(message.header, hasAtMost: 66, at: "$.header")
    try limits.demand(message.body, hasAtMost: 144, at: "$.body")
    try limits.demand(message.image?.altText, hasAtMost: 150, at: "$.image.altText")
    try limits.demand(
      message.headerPosition != .aboveImage || message.image != nil, at: "$.headerPosition",
      "There is no image above which the header could stand.")
    let points = message.bulletPoints ?? []
    try limits.demand(
      points.count <= 5, at: "$.bulletPoints", "There are \(points.count); at most 5 are allowed.")
    for (index, point) in points.enumerated() {
      try limits.demand(point.text, hasAtMost: 66, at: "$.bulletPoints[\(index)].text")
      try limits.demand(point.altText, hasAtMost: 150, at: "$.bulletPoints[\(index)].altText")
    }
    let call = try AppStoreServerCall(
      .uploadMessage, identifier.rawValue, body: .json(message.encodedJSON()))
    try await raw.send(call)
  }

  /// Deletes a message.
  public func deleteMessage(_ identifier: UUIDString) async throws(AppStoreServerError) {
    try RequestLimits(.deleteMessage).demandUUID(identifier, at: "messageIdentifier")
    try await raw.send(AppStoreServerCall(.deleteMessage, identifier.rawValue))
  }

  /// All messages that were uploaded.
  public func messages() async throws(AppStoreServerError) -> RetentionMessageListResponse {
    try await raw.send(AppStoreServerCall(.messageList), as: RetentionMessageListResponse.self).value
  }
}
