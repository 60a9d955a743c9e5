// SPDX-License-Identifier: Apache-2.0

/// The commitment of a subscription, at one transaction.
public struct TransactionCommitmentInfo: Sendable, Hashable {
  /// Which billing period of the commitment this is, from 1.
  public var billingPeriodNumber: Int64?
  /// When the commitment ends.
  public var commitmentExpiresDate: Timestamp?
  /// Price of the whole commitment times 1000.
  public var commitmentPrice: Int64?
  /// How many billing periods the commitment has.
  public var totalBillingPeriods: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    billingPeriodNumber: Int64? = nil, commitmentExpiresDate: Timestamp? = nil,
    commitmentPrice: Int64? = nil, totalBillingPeriods: Int64? = nil, unknownFields: [JSONMember] = []
  ) {
    self.billingPeriodNumber = billingPeriodNumber
    self.commitmentExpiresDate = commitmentExpiresDate
    self.commitmentPrice = commitmentPrice
    self.totalBillingPeriods = totalBillingPeriods
    self.unknownFields = unknownFields
  }
}

extension TransactionCommitmentInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case billingPeriodNumber, commitmentExpiresDate, commitmentPrice, totalBillingPeriods
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .billingPeriodNumber: try coder.code(&billingPeriodNumber)
    case .commitmentExpiresDate: try coder.code(&commitmentExpiresDate)
    case .commitmentPrice: try coder.code(&commitmentPrice)
    case .totalBillingPeriods: try coder.code(&totalBillingPeriods)
    }
  }
}
