// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
public import ReceiptVerification

/// A verified signed part of a response; only a client can create one.
public struct VerifiedPayload<Payload: Sendable & Hashable>: Sendable, Hashable {
  /// The content, exactly as the signature covers it.
  public let payload: Payload
  /// The verifier's result, with the signer and the signing time.
  public let receipt: VerifiedReceipt
  /// The part as received, a compact JWS; store it as proof.
  package let compact: String
}

extension VerifiedSubscription {
  /// The time, in seconds, around the end of a period in which the status may differ from the last transaction, because
  /// a renewal is being processed.
  static let processingTime: Double = 3_600

  /// Returns a description of the contradiction between the unsigned status and the signed dates; `nil` if they agree.
  ///
  /// | Status | Agrees with |
  /// |---|---|
  /// | active, grace period | no `revocationDate`, and an end in the future |
  /// | expired | no end in the future |
  /// | billing retry | no end in the future, or `isInBillingRetryPeriod` before `expiresDate` |
  /// | revoked | `revocationDate` |
  ///
  /// An end is `expiresDate`, `gracePeriodExpiresDate`, or the `renewalDate` of a renewal that did not fail. An end
  /// less than an hour away counts both as past and as future. The App Store charges ahead, so billing retry can begin
  /// before `expiresDate`.
  package func contradiction(at instant: Timestamp) -> String? {
    let revocation = purchase.transaction.payload.revocationDate
    let endsLater =
      revocation == nil
      ? ends.first { instant.addingSeconds(Self.processingTime) < $0.date } : nil
    let isContradicted: Bool
    switch status {
    case .active, .gracePeriod:
      let isRunning = ends.contains { instant.addingSeconds(-Self.processingTime) < $0.date }
      isContradicted = revocation != nil || !isRunning
    case .expired: isContradicted = endsLater != nil
    case .billingRetry:
      let isCharged = renewalInfo?.isInBillingRetryPeriod == true
      isContradicted = endsLater.map { !isCharged || $0.name == Self.graceEnd } ?? false
    case .revoked: isContradicted = revocation == nil
    case .unknown: isContradicted = false
    }
    guard isContradicted else { return nil }
    let signed = (revocation.map { [("revocationDate", $0)] } ?? []) + ends
    let dates = signed.map { "\($0.name) \($0.date.iso8601)" }.joined(separator: ", ")
    return "The App Store answers status \(status.rawValue) (\(status)), which it does not sign, for the "
      + "subscription \(originalTransactionId); signed is \(dates.isEmpty ? "no date" : dates)."
  }

  private var renewalInfo: JWSRenewalInfo? { purchase.renewalInfo?.payload }

  private static let graceEnd = "gracePeriodExpiresDate"

  /// The instants until which the customer has access, with the name of the member that states each.
  private var ends: [(name: String, date: Timestamp)] {
    let isRetrying = renewalInfo?.isInBillingRetryPeriod
    let grace = isRetrying == false ? nil : renewalInfo?.gracePeriodExpiresDate
    let renewal = isRetrying == true || renewalInfo?.expirationIntent != nil ? nil : renewalInfo?.renewalDate
    return [
      (Self.graceEnd, grace), ("expiresDate", purchase.transaction.payload.expiresDate),
      ("renewalDate", renewal),
    ].compactMap { name, date in date.map { (name, $0) } }
  }
}
