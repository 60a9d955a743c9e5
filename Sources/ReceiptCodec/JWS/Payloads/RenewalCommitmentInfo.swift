// SPDX-License-Identifier: Apache-2.0

/// The commitment of a subscription, at its next renewal.
public struct RenewalCommitmentInfo: Sendable, Hashable {
  /// The product that the next commitment is for.
  public var commitmentAutoRenewProductId: String?
  /// Whether the commitment renews.
  public var commitmentAutoRenewStatus: AutoRenewStatus?
  /// How the next commitment is billed.
  public var commitmentRenewalBillingPlanType: BillingPlanType?
  /// When the commitment renews.
  public var commitmentRenewalDate: Timestamp?
  /// Price of the next commitment times 1000.
  public var commitmentRenewalPrice: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    commitmentAutoRenewProductId: String? = nil, commitmentAutoRenewStatus: AutoRenewStatus? = nil,
    commitmentRenewalBillingPlanType: BillingPlanType? = nil, commitmentRenewalDate: Timestamp? = nil,
    commitmentRenewalPrice: Int64? = nil, unknownFields: [JSONMember] = []
  ) {
    self.commitmentAutoRenewProductId = commitmentAutoRenewProductId
    self.commitmentAutoRenewStatus = commitmentAutoRenewStatus
    self.commitmentRenewalBillingPlanType = commitmentRenewalBillingPlanType
    self.commitmentRenewalDate = commitmentRenewalDate
    self.commitmentRenewalPrice = commitmentRenewalPrice
    self.unknownFields = unknownFields
  }
}

extension RenewalCommitmentInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case commitmentAutoRenewProductId, commitmentAutoRenewStatus, commitmentRenewalBillingPlanType,
      commitmentRenewalDate, commitmentRenewalPrice
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .commitmentAutoRenewProductId: try coder.code(&commitmentAutoRenewProductId)
    case .commitmentAutoRenewStatus: try coder.code(&commitmentAutoRenewStatus)
    case .commitmentRenewalBillingPlanType: try coder.code(&commitmentRenewalBillingPlanType)
    case .commitmentRenewalDate: try coder.code(&commitmentRenewalDate)
    case .commitmentRenewalPrice: try coder.code(&commitmentRenewalPrice)
    }
  }
}
