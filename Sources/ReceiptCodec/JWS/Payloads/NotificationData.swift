// SPDX-License-Identifier: Apache-2.0

/// The transaction that a notification is about. Its signed parts carry signatures of their own and are not
/// decoded here.
public struct NotificationData: Sendable, Hashable {
  /// The store environment.
  public var environment: ReceiptEnvironment?
  /// The app's identifier in the App Store; absent from sandbox's.
  public var appAppleId: Int64?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// Version of the app that made the purchase.
  public var bundleVersion: String?
  /// A transaction, as a JWS of its own.
  public var signedTransactionInfo: String?
  /// Renewal information, as a JWS of its own.
  public var signedRenewalInfo: String?
  /// State of the subscription when signed.
  public var status: SubscriptionStatus?
  /// Why the customer asked for a refund.
  public var consumptionRequestReason: ConsumptionRequestReason?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    environment: ReceiptEnvironment? = nil, appAppleId: Int64? = nil, bundleId: String? = nil,
    bundleVersion: String? = nil, signedTransactionInfo: String? = nil, signedRenewalInfo: String? = nil,
    status: SubscriptionStatus? = nil, consumptionRequestReason: ConsumptionRequestReason? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.environment = environment
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.bundleVersion = bundleVersion
    self.signedTransactionInfo = signedTransactionInfo
    self.signedRenewalInfo = signedRenewalInfo
    self.status = status
    self.consumptionRequestReason = consumptionRequestReason
    self.unknownFields = unknownFields
  }
}

extension NotificationData: JSONObject {
  package enum Field: String, CaseIterable {
    case environment, appAppleId, bundleId, bundleVersion, signedTransactionInfo, signedRenewalInfo, status,
      consumptionRequestReason
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .environment: try coder.code(&environment)
    case .appAppleId: try coder.code(&appAppleId)
    case .bundleId: try coder.code(&bundleId)
    case .bundleVersion: try coder.code(&bundleVersion)
    case .signedTransactionInfo: try coder.code(&signedTransactionInfo)
    case .signedRenewalInfo: try coder.code(&signedRenewalInfo)
    case .status: try coder.code(&status)
    case .consumptionRequestReason: try coder.code(&consumptionRequestReason)
    }
  }
}
