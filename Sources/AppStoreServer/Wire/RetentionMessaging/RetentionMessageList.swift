// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A message that was uploaded (Apple's GetMessageListResponseItem).
public struct RetentionMessageState: Sendable, Hashable {
  /// The message's identifier (`messageIdentifier`).
  public var messageIdentifier: UUIDString?
  /// Whether it is approved (`messageState`).
  public var messageState: RetentionReviewState?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString? = nil, messageState: RetentionReviewState? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.messageState = messageState
    self.unknownFields = unknownFields
  }
}

extension RetentionMessageState: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier, messageState
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    case .messageState: try coder.code(&messageState)
    }
  }
}

/// All messages that were uploaded (Apple's GetMessageListResponse).
public struct RetentionMessageListResponse: Sendable, Hashable {
  /// The messages (`messageIdentifiers`).
  public var messageIdentifiers: [RetentionMessageState]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifiers: [RetentionMessageState]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifiers = messageIdentifiers
    self.unknownFields = unknownFields
  }
}

extension RetentionMessageListResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifiers
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifiers: try coder.code(&messageIdentifiers)
    }
  }
}
