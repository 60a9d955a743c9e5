// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Which notifications to list (Apple's NotificationHistoryRequest): by type, or by customer, or all.
public struct NotificationHistoryRequest: Sendable, Hashable {
  /// The first instant, at most 180 days ago, 30 in the sandbox (`startDate`).
  public var startDate: Timestamp
  /// The last instant, after the first (`endDate`).
  public var endDate: Timestamp
  /// Only those of this type; not together with `transactionId` (`notificationType`).
  public var notificationType: NotificationType?
  /// Only those of this subtype; with `notificationType` alone (`notificationSubtype`).
  public var notificationSubtype: NotificationSubtype?
  /// Only those of the customer of this transaction (`transactionId`).
  public var transactionId: String?
  /// Only those that were not delivered (`onlyFailures`).
  public var onlyFailures: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    startDate: Timestamp, endDate: Timestamp, notificationType: NotificationType? = nil,
    notificationSubtype: NotificationSubtype? = nil, transactionId: String? = nil,
    onlyFailures: Bool? = nil, unknownFields: [JSONMember] = []
  ) {
    self.startDate = startDate
    self.endDate = endDate
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
    self.unknownFields = unknownFields
  }
}

extension NotificationHistoryRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case startDate, endDate, notificationType, notificationSubtype, transactionId, onlyFailures
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.startDate, .endDate])

  /// Filled before anyone sees it.
  package init() {
    self.init(startDate: Timestamp(millisecondsSince1970: 0), endDate: Timestamp(millisecondsSince1970: 0))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .startDate: try coder.code(&startDate)
    case .endDate: try coder.code(&endDate)
    case .notificationType: try coder.code(&notificationType)
    case .notificationSubtype: try coder.code(&notificationSubtype)
    case .transactionId: try coder.code(&transactionId)
    case .onlyFailures: try coder.code(&onlyFailures)
    }
  }
}

/// A notification and the attempts to deliver it (Apple's NotificationHistoryResponseItem).
public struct NotificationHistoryItem: Sendable, Hashable {
  /// The notification, as a JWS (`signedPayload`).
  public var signedPayload: String?
  /// At most six attempts to deliver it (`sendAttempts`).
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

extension NotificationHistoryItem: JSONObject {
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

/// A page of notifications (Apple's NotificationHistoryResponse).
public struct NotificationHistoryResponse: Sendable, Hashable {
  /// Names the place where the next page begins; to be sent with the same request (`paginationToken`).
  public var paginationToken: String?
  /// Whether there are more pages (`hasMore`).
  public var hasMore: Bool?
  /// At most 20 notifications, the oldest first (`notificationHistory`).
  public var notificationHistory: [NotificationHistoryItem]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    paginationToken: String? = nil, hasMore: Bool? = nil,
    notificationHistory: [NotificationHistoryItem]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.paginationToken = paginationToken
    self.hasMore = hasMore
    self.notificationHistory = notificationHistory
    self.unknownFields = unknownFields
  }
}

extension NotificationHistoryResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case paginationToken, hasMore, notificationHistory
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .paginationToken: try coder.code(&paginationToken)
    case .hasMore: try coder.code(&hasMore)
    case .notificationHistory: try coder.code(&notificationHistory)
    }
  }
}
