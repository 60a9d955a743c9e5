// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The message shown for a product and locale unless the realtime URL names another (Apple's
/// DefaultConfigurationRequest), set and read.
public struct DefaultRetentionMessage: Sendable, Hashable {
  /// The message's identifier (`messageIdentifier`).
  public var messageIdentifier: UUIDString
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString, unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.unknownFields = unknownFields
  }
}

extension DefaultRetentionMessage: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(messageIdentifier: UUIDString(rawValue: ""))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    }
  }
}

/// Where the App Store asks which message to show (Apple's RealtimeUrlRequest), set and read.
public struct RetentionRealtimeURL: Sendable, Hashable {
  /// An HTTPS URL of at most 256 characters (`realtimeURL`).
  public var realtimeURL: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    realtimeURL: String, unknownFields: [JSONMember] = []
  ) {
    self.realtimeURL = realtimeURL
    self.unknownFields = unknownFields
  }
}

extension RetentionRealtimeURL: JSONObject {
  package enum Field: String, CaseIterable {
    case realtimeURL
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(realtimeURL: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .realtimeURL: try coder.code(&realtimeURL)
    }
  }
}
