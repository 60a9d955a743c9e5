// SPDX-License-Identifier: Apache-2.0

/// What counts as a replay. A replay is a genuine receipt that is presented once too often: only the record of what was
/// granted before can tell. Only entries with a valid verdict count.
public struct ReplayRule: RawRepresentable, Sendable, Hashable {
  /// The name, as `receipt-tool` has it.
  public let rawValue: String
  /// Creates a rule from its name; one that is unknown is never broken.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A transaction, or another one of the same original transaction, that was first granted to another customer.
  /// Restoring to one's own account stays possible.
  public static let anotherCustomer = ReplayRule(rawValue: "another-customer")
  /// The same receipt, in whatever spelling (`VerifiedReceipt.identity`) and from any customer. For receipts that are
  /// presented once by design, such as those of consumables; an app that sends its receipt on every start would be
  /// refused on the second.
  public static let sameReceipt = ReplayRule(rawValue: "same-receipt")
  /// A consumable whose transaction was granted before, in whatever receipt.
  public static let consumableAgain = ReplayRule(rawValue: "consumable-again")

  /// All rules.
  public static let all: [ReplayRule] = [.anotherCustomer, .sameReceipt, .consumableAgain]
}
