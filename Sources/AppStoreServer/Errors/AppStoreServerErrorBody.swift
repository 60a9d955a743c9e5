// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What the App Store says of a request that it refuses.
public struct AppStoreServerErrorBody: Sendable, Hashable {
  /// The code (`errorCode`).
  public var errorCode: AppStoreServerErrorCode
  /// In words (`errorMessage`).
  public var errorMessage: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    errorCode: AppStoreServerErrorCode, errorMessage: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.errorCode = errorCode
    self.errorMessage = errorMessage
    self.unknownFields = unknownFields
  }
}

extension AppStoreServerErrorBody: JSONObject {
  package enum Field: String, CaseIterable {
    case errorCode, errorMessage
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.errorCode])

  /// Filled before anyone sees it.
  package init() {
    self.init(errorCode: AppStoreServerErrorCode(rawValue: 0))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .errorCode: try coder.code(&errorCode)
    case .errorMessage: try coder.code(&errorMessage)
    }
  }
}
