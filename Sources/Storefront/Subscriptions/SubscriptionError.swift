// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// Why an operation on a subscription or purchase failed.
public struct SubscriptionError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No subscription of this original transaction.
    case unknownSubscription = "unknown-subscription"
    /// No such transaction.
    case unknownTransaction = "unknown-transaction"
    /// No such product.
    case unknownProduct = "unknown-product"
    /// It has expired, or was revoked.
    case notActive = "not-active"
    /// It was refunded already.
    case alreadyRefunded = "already-refunded"
    /// It was not refunded.
    case notRefunded = "not-refunded"
    /// The rules do not allow it.
    case notEligible = "not-eligible"
    /// It belongs to another member of the family, who must do it.
    case familyShared = "family-shared"
    /// A value is out of bounds.
    case invalidValue = "invalid-value"
  }

  /// What is wrong.
  public let code: Code
  /// Where: an identifier of a transaction, a product or an account.
  public let place: String
  /// What was found, and what to do, in a sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }
}
