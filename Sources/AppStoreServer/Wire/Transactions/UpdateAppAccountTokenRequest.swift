// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Sets the account to which a purchase belongs (Apple's UpdateAppAccountTokenRequest).
public struct UpdateAppAccountTokenRequest: Sendable, Hashable {
  /// The app's own identifier of the account, a UUID (`appAccountToken`).
  public var appAccountToken: UUIDString
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    appAccountToken: UUIDString, unknownFields: [JSONMember] = []
  ) {
    self.appAccountToken = appAccountToken
    self.unknownFields = unknownFields
  }
}

extension UpdateAppAccountTokenRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case appAccountToken
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(appAccountToken: UUIDString(rawValue: ""))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .appAccountToken: try coder.code(&appAccountToken)
    }
  }
}
