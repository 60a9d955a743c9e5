// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The last transaction of a subscription, and its state (Apple's LastTransactionsItem).
public struct SubscriptionLastTransaction: Sendable, Hashable {
  /// The state of the subscription (`status`).
  public var status: SubscriptionStatus?
  /// The subscription, by its first transaction (`originalTransactionId`).
  public var originalTransactionId: String?
  /// A transaction, as a JWS (`signedTransactionInfo`).
  public var signedTransactionInfo: String?
  /// Renewal information, as a JWS (`signedRenewalInfo`).
  public var signedRenewalInfo: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    status: SubscriptionStatus? = nil, originalTransactionId: String? = nil,
    signedTransactionInfo: String? = nil, signedRenewalInfo: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.status = status
    self.originalTransactionId = originalTransactionId
    self.signedTransactionInfo = signedTransactionInfo
    self.signedRenewalInfo = signedRenewalInfo
    self.unknownFields = unknownFields
  }
}

extension SubscriptionLastTransaction: JSONObject {
  package enum Field: String, CaseIterable {
    case status, originalTransactionId, signedTransactionInfo, signedRenewalInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .status: try coder.code(&status)
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .signedTransactionInfo: try coder.code(&signedTransactionInfo)
    case .signedRenewalInfo: try coder.code(&signedRenewalInfo)
    }
  }
}

/// The subscriptions of a customer in one group (Apple's SubscriptionGroupIdentifierItem).
public struct SubscriptionGroupStatuses: Sendable, Hashable {
  /// The group (`subscriptionGroupIdentifier`).
  public var subscriptionGroupIdentifier: String?
  /// The last transaction of each subscription (`lastTransactions`).
  public var lastTransactions: [SubscriptionLastTransaction]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    subscriptionGroupIdentifier: String? = nil, lastTransactions: [SubscriptionLastTransaction]? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.lastTransactions = lastTransactions
    self.unknownFields = unknownFields
  }
}

extension SubscriptionGroupStatuses: JSONObject {
  package enum Field: String, CaseIterable {
    case subscriptionGroupIdentifier, lastTransactions
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .subscriptionGroupIdentifier: try coder.code(&subscriptionGroupIdentifier)
    case .lastTransactions: try coder.code(&lastTransactions)
    }
  }
}

/// The state of all subscriptions of a customer (Apple's StatusResponse).
public struct SubscriptionStatusesResponse: Sendable, Hashable {
  /// The store environment (`environment`).
  public var environment: ReceiptEnvironment?
  /// The app, by its bundle identifier (`bundleId`).
  public var bundleId: String?
  /// The app's identifier in the App Store (`appAppleId`); absent from sandbox's.
  public var appAppleId: Int64?
  /// The subscriptions, group by group (`data`).
  public var data: [SubscriptionGroupStatuses]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    environment: ReceiptEnvironment? = nil, bundleId: String? = nil, appAppleId: Int64? = nil,
    data: [SubscriptionGroupStatuses]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.environment = environment
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.data = data
    self.unknownFields = unknownFields
  }
}

extension SubscriptionStatusesResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case environment, bundleId, appAppleId, data
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .environment: try coder.code(&environment)
    case .bundleId: try coder.code(&bundleId)
    case .appAppleId: try coder.code(&appAppleId)
    case .data: try coder.code(&data)
    }
  }
}
