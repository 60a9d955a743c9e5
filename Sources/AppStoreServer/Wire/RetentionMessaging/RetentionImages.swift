// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Whether Apple approved an image or a message (`imageState`, `messageState`).
public struct RetentionReviewState: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PENDING`: not reviewed yet.
  public static let pending = RetentionReviewState(rawValue: "PENDING")
  /// `APPROVED`: approved: it may be shown.
  public static let approved = RetentionReviewState(rawValue: "APPROVED")
  /// `REJECTED`: refused.
  public static let rejected = RetentionReviewState(rawValue: "REJECTED")
}

extension RetentionReviewState: JSONEnumeration {}

/// What an image is for (`imageSize`).
public struct RetentionImageSize: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `FULL_SIZE`: the image of a message.
  public static let fullSize = RetentionImageSize(rawValue: "FULL_SIZE")
  /// `BULLET_POINT`: the image of a bullet point.
  public static let bulletPoint = RetentionImageSize(rawValue: "BULLET_POINT")
}

extension RetentionImageSize: JSONEnumeration {}

/// An image that was uploaded (Apple's GetImageListResponseItem).
public struct RetentionImage: Sendable, Hashable {
  /// The image's identifier (`imageIdentifier`).
  public var imageIdentifier: UUIDString?
  /// Whether it is approved (`imageState`).
  public var imageState: RetentionReviewState?
  /// What it is for (`imageSize`).
  public var imageSize: RetentionImageSize?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    imageIdentifier: UUIDString? = nil, imageState: RetentionReviewState? = nil,
    imageSize: RetentionImageSize? = nil, unknownFields: [JSONMember] = []
  ) {
    self.imageIdentifier = imageIdentifier
    self.imageState = imageState
    self.imageSize = imageSize
    self.unknownFields = unknownFields
  }
}

extension RetentionImage: JSONObject {
  package enum Field: String, CaseIterable {
    case imageIdentifier, imageState, imageSize
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .imageIdentifier: try coder.code(&imageIdentifier)
    case .imageState: try coder.code(&imageState)
    case .imageSize: try coder.code(&imageSize)
    }
  }
}

/// All images that were uploaded (Apple's GetImageListResponse).
public struct RetentionImageListResponse: Sendable, Hashable {
  /// The images (`imageIdentifiers`).
  public var imageIdentifiers: [RetentionImage]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    imageIdentifiers: [RetentionImage]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.imageIdentifiers = imageIdentifiers
    self.unknownFields = unknownFields
  }
}

extension RetentionImageListResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case imageIdentifiers
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .imageIdentifiers: try coder.code(&imageIdentifiers)
    }
  }
}
