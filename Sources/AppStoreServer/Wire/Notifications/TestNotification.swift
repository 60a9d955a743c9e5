// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// That a test notification will be sent (Apple's SendTestNotificationResponse).
public struct SendTestNotificationResponse: Sendable, Hashable {
  /// Names the notification when asking for its status, for six months (`testNotificationToken`).
  public var testNotificationToken: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    testNotificationToken: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.testNotificationToken = testNotificationToken
    self.unknownFields = unknownFields
  }
}

extension SendTestNotificationResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case testNotificationToken
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .testNotificationToken: try coder.code(&testNotificationToken)
    }
  }
}

/// What became of a test notification (Apple's CheckTestNotificationResponse).
public struct CheckTestNotificationResponse: Sendable, Hashable {
  /// The notification, as a JWS (`signedPayload`).
  public var signedPayload: String?
  /// The attempts to deliver it (`sendAttempts`).
  public var sendAttempts: [SendAttempt]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    signedPayload: String? = nil, sendAttempts: [SendAttempt]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.signedPayload = signedPayload
    self.sendAttempts = sendAttempts
    self.unknownFields = unknownFields
  }
}

extension CheckTestNotificationResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case signedPayload, sendAttempts
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedPayload: try coder.code(&signedPayload)
    case .sendAttempts: try coder.code(&sendAttempts)
    }
  }
}
