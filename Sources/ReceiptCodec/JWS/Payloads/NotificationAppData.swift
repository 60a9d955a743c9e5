// SPDX-License-Identifier: Apache-2.0

/// The app transaction that a notification is about. The signed part carries a signature of its own and is
/// not decoded here.
public struct NotificationAppData: Sendable, Hashable {
  /// The app's identifier in the App Store.
  public var appAppleId: Int64?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// The store environment.
  public var environment: ReceiptEnvironment?
  /// An app transaction, as a JWS of its own.
  public var signedAppTransactionInfo: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    appAppleId: Int64? = nil, bundleId: String? = nil, environment: ReceiptEnvironment? = nil,
    signedAppTransactionInfo: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.environment = environment
    self.signedAppTransactionInfo = signedAppTransactionInfo
    self.unknownFields = unknownFields
  }
}

extension NotificationAppData: JSONObject {
  package enum Field: String, CaseIterable {
    case appAppleId, bundleId, environment, signedAppTransactionInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .appAppleId: try coder.code(&appAppleId)
    case .bundleId: try coder.code(&bundleId)
    case .environment: try coder.code(&environment)
    case .signedAppTransactionInfo: try coder.code(&signedAppTransactionInfo)
    }
  }
}
