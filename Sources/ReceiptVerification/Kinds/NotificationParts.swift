// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The signed parts inside a notification: verified like any other receipt, and then compared with it.
extension ReceiptVerifier {
  func verifySignedParts(of notification: Notification) throws(Objection) -> [VerifiedReceipt] {
    var parts: [(place: String, receipt: VerifiedReceipt)] = []
    func verify(_ compact: String?, as kind: ReceiptKind, at place: String) throws(Objection) {
      guard let compact else { return }
      parts.append((place, try verifyNestedJWS(compact, as: kind, at: place)))
    }
    try verify(
      notification.data?.signedTransactionInfo, as: .signedTransaction, at: "$.data.signedTransactionInfo")
    try verify(
      notification.data?.signedRenewalInfo, as: .signedRenewalInfo, at: "$.data.signedRenewalInfo")
    try verify(
      notification.appData?.signedAppTransactionInfo, as: .signedAppTransaction,
      at: "$.appData.signedAppTransactionInfo")

    let outer = JWSPayload.notification(notification)
    for (place, part) in parts {
      try demandAgreement(outer.bundleId, part.bundleId, of: "bundle identifier", at: place)
      try demandAgreement(
        outer.environment?.category, part.environment?.category, of: "environment", at: place)
      try demandAgreement(outer.appAppleId, part.appAppleId, of: "app identifier", at: place)
    }
    let original = parts.map { $0.receipt.transactions.first?.originalTransactionId }
    if parts.count == 2, notification.appData == nil {
      try demandAgreement(
        original[0], original[1], of: "original transaction identifier", at: parts[1].place)
    }
    return parts.map(\.receipt)
  }

  /// Absent is not the same as different: early notifications leave fields out.
  private func demandAgreement<Value: Equatable>(
    _ outer: Value?, _ part: Value?, of name: String, at place: String
  ) throws(Objection) {
    guard let outer, let part, outer != part else { return }
    throw .invalid(
      .nestedMismatch, at: place,
      "The \(name) of the signed part, \(part), is not that of what surrounds it, \(outer).")
  }
}
