// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The signed parts inside a notification: verified like any other receipt, and then compared with it.
extension ReceiptVerifier {
  func verifySignedParts(of notification: Notification) throws(Objection) -> [VerifiedReceipt] {
    var parts: [(place: String, receipt: VerifiedReceipt)] = []
    let outer = JWSPayload.notification(notification)
    func verify(_ compact: String?, as kind: ReceiptKind, at place: String) throws(Objection) {
      guard let compact else { return }
      let part = try verifyNestedJWS(compact, as: kind, at: place, surrounding: outer.environment)
      parts.append((place, part))
    }
    try verify(
      notification.data?.signedTransactionInfo, as: .signedTransaction, at: "$.data.signedTransactionInfo")
    try verify(
      notification.data?.signedRenewalInfo, as: .signedRenewalInfo, at: "$.data.signedRenewalInfo")
    try verify(
      notification.appData?.signedAppTransactionInfo, as: .signedAppTransaction,
      at: "$.appData.signedAppTransactionInfo")

    // What the notification leaves out, its first part says. Where the sandbox knows no app it states 0.
    func known(_ appAppleId: Int64?) -> Int64? { appAppleId == 0 ? nil : appAppleId }
    var said = Said(
      bundleId: outer.bundleId, environment: outer.environment?.category,
      appAppleId: known(outer.appAppleId))
    for (place, part) in parts {
      try demandAgreement(&said.bundleId, part.bundleId, of: "bundle identifier", at: place, by: hasSameBytes)
      try demandAgreement(&said.environment, part.environment?.category, of: "environment", at: place, by: ==)
      try demandAgreement(&said.appAppleId, known(part.appAppleId), of: "app identifier", at: place, by: ==)
      try demandAgreement(
        &said.originalTransactionId, part.transactions.first?.originalTransactionId,
        of: "original transaction identifier", at: place, by: hasSameBytes)
    }
    return parts.map(\.receipt)
  }

  private struct Said {
    var bundleId: String?
    var environment: ReceiptEnvironment.Category?
    var appAppleId: Int64?
    var originalTransactionId: String?
  }

  /// Absent is not the same as different: early notifications leave fields out.
  private func demandAgreement<Value>(
    _ said: inout Value?, _ part: Value?, of name: String, at place: String,
    by areEqual: (Value, Value) -> Bool
  ) throws(Objection) {
    guard let part else { return }
    guard let outer = said else {
      said = part
      return
    }
    guard !areEqual(outer, part) else { return }
    throw .invalid(
      .nestedMismatch, at: place,
      "The \(name) of the signed part, \(part), is not that of what surrounds it, \(outer).")
  }
}
