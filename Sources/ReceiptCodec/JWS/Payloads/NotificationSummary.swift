// SPDX-License-Identifier: Apache-2.0

/// The outcome of a mass extension of renewal dates.
public struct NotificationSummary: Sendable, Hashable {
  /// The store environment.
  public var environment: ReceiptEnvironment?
  /// The app's identifier in the App Store.
  public var appAppleId: Int64?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// The product whose renewals were extended.
  public var productId: String?
  /// The request that this reports on.
  public var requestIdentifier: UUIDString?
  /// The storefronts concerned, three letters of ISO 3166-1 each.
  public var storefrontCountryCodes: [String]?
  /// How many subscriptions were extended.
  public var succeededCount: Int64?
  /// How many were not.
  public var failedCount: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    environment: ReceiptEnvironment? = nil, appAppleId: Int64? = nil, bundleId: String? = nil,
    productId: String? = nil, requestIdentifier: UUIDString? = nil,
    storefrontCountryCodes: [String]? = nil, succeededCount: Int64? = nil, failedCount: Int64? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.environment = environment
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.productId = productId
    self.requestIdentifier = requestIdentifier
    self.storefrontCountryCodes = storefrontCountryCodes
    self.succeededCount = succeededCount
    self.failedCount = failedCount
    self.unknownFields = unknownFields
  }
}

extension NotificationSummary: JSONObject {
  package enum Field: String, CaseIterable {
    case environment, appAppleId, bundleId, productId, requestIdentifier, storefrontCountryCodes,
      succeededCount, failedCount
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .environment: try coder.code(&environment)
    case .appAppleId: try coder.code(&appAppleId)
    case .bundleId: try coder.code(&bundleId)
    case .productId: try coder.code(&productId)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .storefrontCountryCodes: try coder.code(&storefrontCountryCodes)
    case .succeededCount: try coder.code(&succeededCount)
    case .failedCount: try coder.code(&failedCount)
    }
  }
}
