// SPDX-License-Identifier: Apache-2.0

/// An answer with a verdict, so that nobody grants for a receipt that is merely genuine, or could not be checked.
public protocol ServerVerdictAnswer {
  /// The verdict.
  var verdict: ServerVerdictWord { get }
  /// `true` if trying again later may give an answer.
  var retryable: Bool? { get }
  /// The purchases to grant: those that stand now, of a receipt that is valid.
  var activePurchases: [ServerPurchase] { get }
}

extension ServerVerdictAnswer {
  /// `true` if the purchase is genuine and satisfies the policy. It may have expired, or may have been refunded: see
  /// ``activePurchases``.
  public var isValid: Bool { verdict == .valid }

  /// `true` if it could not be checked now, and asking again later may give an answer. Keep the receipt, and grant
  /// nothing meanwhile.
  public var shouldRetry: Bool { verdict == .undetermined && retryable == true }
}

extension ServerVerdict: ServerVerdictAnswer {
  /// The purchases to grant: those that stand now, of a receipt that is valid.
  public var activePurchases: [ServerPurchase] {
    isValid ? (transactions ?? []).filter { $0.grantsAccess == true } : []
  }
}

extension ServerLookup: ServerVerdictAnswer {
  /// The purchases to grant: those that stand now, of a purchase that is valid.
  public var activePurchases: [ServerPurchase] {
    isValid ? transactions.filter { $0.grantsAccess == true } : []
  }
}

extension ServerEntitlements {
  /// Returns `true` if the customer has the named entitlement now.
  public func grantsAccess(to name: String) -> Bool { access.grantsAccess(to: name) }
}

extension ServerPresentedReceipt {
  /// Returns `true` if the customer has the named entitlement now.
  public func grantsAccess(to name: String) -> Bool { access.grantsAccess(to: name) }
}

extension [ServerAccess]? {
  fileprivate func grantsAccess(to name: String) -> Bool {
    (self ?? []).contains { $0.name == name && $0.grantsAccess }
  }
}
