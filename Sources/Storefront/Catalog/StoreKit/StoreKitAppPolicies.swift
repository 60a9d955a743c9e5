// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Licence and privacy policies of an app, in an Xcode `.storekit` file since version 4.
public struct StoreKitAppPolicies: Sendable, Hashable {
  /// The licence.
  public var eula: String?
  /// The privacy policies.
  public var policies: [StoreKitPolicy]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(eula: String? = nil, policies: [StoreKitPolicy]? = nil, unknownFields: [JSONMember] = []) {
    self.eula = eula
    self.policies = policies
    self.unknownFields = unknownFields
  }
}

extension StoreKitAppPolicies: JSONObject {
  package enum Field: String, CaseIterable {
    case eula
    case policies
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .eula: try coder.code(&eula)
    case .policies: try coder.code(&policies)
    }
  }
}
