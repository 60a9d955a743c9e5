// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PolicyEvaluator {
  /// Requires that a purchase of the receipt stands, if the policy does.
  ///
  /// A licence must be granted and not past its validity. A copy of the app that was bought for a time stands until its
  /// end even without purchases in it.
  func requireCurrentPurchase(of receipt: VerifiedReceipt) throws(ValidationError) {
    guard policy.requiresCurrentPurchase else { return }
    if case .detached(.googlePlayLicense(let license)) = receipt.content {
      guard license.responseCode.isLicensed, license.validUntil.map({ instant < $0 }) ?? true else {
        throw .invalid(.notCurrent, "The user has no licence, or its validity has ended.")
      }
      return
    }
    try requireCurrent(receipt.purchases, of: receipt)
  }

  /// Requires that one of the purchases stands, if the policy does. The receipt is `nil` for those of a store's answer.
  func requireCurrent(_ purchases: [Purchase], of receipt: VerifiedReceipt?) throws(ValidationError) {
    guard policy.requiresCurrentPurchase else { return }
    guard let standing = purchases.standing(at: instant) else {
      if let end = receipt?.expirationDate, instant < end { return }
      throw .invalid(.notCurrent, "It states no purchase, and the policy requires one that stands.")
    }
    guard !standing.grantsAccess else { return }
    if purchases.contains(where: { $0.standing(at: instant).status == .unknown }) {
      throw .undetermined(
        Reason(
          .standingUnknown,
          "The receipt does not tell whether its purchase stands at \(instant.iso8601). Ask the store, with a checker."
        ),
        signatureVerified: receipt)
    }
    let since = standing.since.map { " since \($0.iso8601)" } ?? ""
    throw ValidationError(
      reason: Reason(
        .notCurrent,
        purchases.count == 1
          ? "Its purchase is \(standing.status.rawValue)\(since), and the policy requires one that stands."
          : "None of its \(purchases.count) purchases stands; the last is \(standing.status.rawValue)\(since)."
      ),
      // The store may know of a renewal.
      outcome: .invalid(signatureVerified: standing.status == .expired ? receipt : nil))
  }
}
