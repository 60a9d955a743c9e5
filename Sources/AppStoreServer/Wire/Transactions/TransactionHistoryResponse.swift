// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A page of a customer's transactions (Apple's HistoryResponse).
public struct TransactionHistoryResponse: Sendable, Hashable {
  /// Names the place where the next page begins; to be sent with the same filters (`revision`).
  public var revision: String?
  /// Whether there are more pages (`hasMore`).
  public var hasMore: Bool?
  /// The app, by its bundle identifier (`bundleId`).
  public var bundleId: String?
  /// The app's identifier in the App Store (`appAppleId`); absent from sandbox's.
  public var appAppleId: Int64?
  /// The store environment (`environment`).
  public var environment: ReceiptEnvironment?
  /// At most 20 transactions, a JWS each (`signedTransactions`).
  public var signedTransactions: [String]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    revision: String? = nil, hasMore: Bool? = nil, bundleId: String? = nil, appAppleId: Int64? = nil,
    environment: ReceiptEnvironment? = nil, signedTransactions: [String]? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.revision = revision
    self.hasMore = hasMore
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
    self.signedTransactions = signedTransactions
    self.unknownFields = unknownFields
  }
}

extension TransactionHistoryResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case revision, hasMore, bundleId, appAppleId, environment, signedTransactions
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .revision: try coder.code(&revision)
    case .hasMore: try coder.code(&hasMore)
    case .bundleId: try coder.code(&bundleId)
    case .appAppleId: try coder.code(&appAppleId)
    case .environment: try coder.code(&environment)
    case .signedTransactions: try coder.code(&signedTransactions)
    }
  }
}
