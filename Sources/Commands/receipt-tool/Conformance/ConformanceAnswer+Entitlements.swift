// SPDX-License-Identifier: Apache-2.0

import Entitlements
import ReceiptCodec
import ReceiptVerification

extension ConformanceAnswer {
  /// The entitlements that follow from receipts in the order of their arrival. A receipt that is not valid has no effect.
  init(folding asked: ConformanceCase, by verifier: ReceiptVerifier) throws {
    let receiver = NotificationReceiver(verifier: verifier)
    var ledger = EntitlementLedger()
    for receipt in asked.input["receipts"]?.array ?? [] {
      let bytes = try JSONValue.members(("receipt", receipt)).base64("receipt")
      if let notification = try? receiver.receive(bytes) {
        ledger.apply(notification)
      } else if case .valid(let verified) = verifier.acceptingLapsedPurchases.verify(bytes),
        verified.kind == .signedTransaction
      {
        _ = try? ledger.apply(transaction: verified)
      }
    }
    let entitlements = ledger.entitlements.map { Self.value(of: $0, at: asked.time) }
    self.init(verdict: "valid", values: .members(("entitlements", .array(entitlements))))
  }

  private static func value(of entitlement: Entitlement, at time: Timestamp) -> JSONValue {
    // During a later period, which renewal info alone states, product and end are not those of the transaction.
    let state = entitlement.state(at: time)
    let isLaterPeriod = state == .active && entitlement.expiresDate.map { $0 <= time } ?? false
    let end: JSONValue? = isLaterPeriod ? nil : entitlement.expiresDate.map { .string($0.iso8601) }
    let productId = entitlement.productId(at: time) ?? entitlement.productId
    return .members(
      ("environment", .string(entitlement.id.environment.rawValue)),
      ("originalTransactionId", .string(entitlement.id.originalTransactionId)),
      ("productId", productId.map { .string($0) }),
      ("state", .string(state.rawValue)),
      ("expiresDate", end))
  }
}
