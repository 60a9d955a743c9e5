// SPDX-License-Identifier: Apache-2.0

/// What caused a transaction (`transactionReason`).
public struct TransactionReason: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PURCHASE`: the customer bought it.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// `RENEWAL`: the subscription renewed.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")
}

extension TransactionReason: JSONEnumeration {}

/// Why a transaction was refunded (`revocationReason`).
public struct RevocationReason: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: some other reason.
  public static let other = RevocationReason(rawValue: 0)
  /// `1`: an actual or perceived issue within the app.
  public static let issue = RevocationReason(rawValue: 1)
}

extension RevocationReason: JSONEnumeration {}

/// What was revoked (`revocationType`).
public struct RevocationType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `REFUND_FULL`: the whole price was refunded.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// `REFUND_PRORATED`: part of the price was refunded.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// `FAMILY_REVOKE`: family sharing ended.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
  /// `ASSIGNMENT_REVOKE`: the assignment by an organization ended.
  public static let assignmentRevoke = RevocationType(rawValue: "ASSIGNMENT_REVOKE")
}

extension RevocationType: JSONEnumeration {}
