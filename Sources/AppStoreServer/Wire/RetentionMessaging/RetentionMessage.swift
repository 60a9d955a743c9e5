// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Where the header of a message stands (`headerPosition`).
public struct RetentionHeaderPosition: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `ABOVE_BODY`: between image and body.
  public static let aboveBody = RetentionHeaderPosition(rawValue: "ABOVE_BODY")
  /// `ABOVE_IMAGE`: above the image, which must be there.
  public static let aboveImage = RetentionHeaderPosition(rawValue: "ABOVE_IMAGE")
}

extension RetentionHeaderPosition: JSONEnumeration {}

/// The image of a message (Apple's UploadMessageImage).
public struct RetentionMessageImage: Sendable, Hashable {
  /// The image, uploaded before (`imageIdentifier`).
  public var imageIdentifier: UUIDString
  /// Text for those who do not see it, at most 150 characters (`altText`).
  public var altText: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    imageIdentifier: UUIDString, altText: String, unknownFields: [JSONMember] = []
  ) {
    self.imageIdentifier = imageIdentifier
    self.altText = altText
    self.unknownFields = unknownFields
  }
}

extension RetentionMessageImage: JSONObject {
  package enum Field: String, CaseIterable {
    case imageIdentifier, altText
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(imageIdentifier: UUIDString(rawValue: ""), altText: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .imageIdentifier: try coder.code(&imageIdentifier)
    case .altText: try coder.code(&altText)
    }
  }
}

/// A bullet point of a message (Apple's BulletPoint).
public struct RetentionBulletPoint: Sendable, Hashable {
  /// The text, at most 66 characters (`text`).
  public var text: String
  /// The image, uploaded before in the size for bullet points (`imageIdentifier`).
  public var imageIdentifier: UUIDString
  /// Text for those who do not see the image, at most 150 characters (`altText`).
  public var altText: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    text: String, imageIdentifier: UUIDString, altText: String, unknownFields: [JSONMember] = []
  ) {
    self.text = text
    self.imageIdentifier = imageIdentifier
    self.altText = altText
    self.unknownFields = unknownFields
  }
}

extension RetentionBulletPoint: JSONObject {
  package enum Field: String, CaseIterable {
    case text, imageIdentifier, altText
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(text: "", imageIdentifier: UUIDString(rawValue: ""), altText: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .text: try coder.code(&text)
    case .imageIdentifier: try coder.code(&imageIdentifier)
    case .altText: try coder.code(&altText)
    }
  }
}

/// A message to a customer who is about to cancel (Apple's UploadMessageRequestBody).
public struct RetentionMessage: Sendable, Hashable {
  /// The header, at most 66 characters (`header`).
  public var header: String
  /// The body, at most 144 characters (`body`).
  public var body: String
  /// The image (`image`).
  public var image: RetentionMessageImage?
  /// Where the header stands (`headerPosition`).
  public var headerPosition: RetentionHeaderPosition?
  /// At most five bullet points (`bulletPoints`).
  public var bulletPoints: [RetentionBulletPoint]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    header: String, body: String, image: RetentionMessageImage? = nil,
    headerPosition: RetentionHeaderPosition? = nil, bulletPoints: [RetentionBulletPoint]? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.header = header
    self.body = body
    self.image = image
    self.headerPosition = headerPosition
    self.bulletPoints = bulletPoints
    self.unknownFields = unknownFields
  }
}

extension RetentionMessage: JSONObject {
  package enum Field: String, CaseIterable {
    case header, body, image, headerPosition, bulletPoints
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.header, .body])

  /// Filled before anyone sees it.
  package init() {
    self.init(header: "", body: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .header: try coder.code(&header)
    case .body: try coder.code(&body)
    case .image: try coder.code(&image)
    case .headerPosition: try coder.code(&headerPosition)
    case .bulletPoints: try coder.code(&bulletPoints)
    }
  }
}
