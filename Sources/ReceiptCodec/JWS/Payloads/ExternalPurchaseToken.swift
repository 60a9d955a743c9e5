// SPDX-License-Identifier: Apache-2.0

/// A token of a purchase made outside the App Store.
public struct ExternalPurchaseToken: Sendable, Hashable {
  /// The token; it begins with `SANDBOX` in the sandbox.
  public var externalPurchaseId: String?
  /// When the token was made.
  public var tokenCreationDate: Timestamp?
  /// The app's identifier in the App Store.
  public var appAppleId: Int64?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// What the token is for.
  public var tokenType: ExternalPurchaseTokenType?
  /// When the token expires.
  public var tokenExpirationDate: Timestamp?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    externalPurchaseId: String? = nil, tokenCreationDate: Timestamp? = nil, appAppleId: Int64? = nil,
    bundleId: String? = nil, tokenType: ExternalPurchaseTokenType? = nil,
    tokenExpirationDate: Timestamp? = nil, unknownFields: [JSONMember] = []
  ) {
    self.externalPurchaseId = externalPurchaseId
    self.tokenCreationDate = tokenCreationDate
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.tokenType = tokenType
    self.tokenExpirationDate = tokenExpirationDate
    self.unknownFields = unknownFields
  }
}

extension ExternalPurchaseToken: JSONObject {
  package enum Field: String, CaseIterable {
    case externalPurchaseId, tokenCreationDate, appAppleId, bundleId, tokenType, tokenExpirationDate
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .externalPurchaseId: try coder.code(&externalPurchaseId)
    case .tokenCreationDate: try coder.code(&tokenCreationDate)
    case .appAppleId: try coder.code(&appAppleId)
    case .bundleId: try coder.code(&bundleId)
    case .tokenType: try coder.code(&tokenType)
    case .tokenExpirationDate: try coder.code(&tokenExpirationDate)
    }
  }
}

extension ExternalPurchaseToken {
  /// The environment that the token's spelling tells.
  public var environment: ReceiptEnvironment? {
    externalPurchaseId.map { $0.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production }
  }
}
