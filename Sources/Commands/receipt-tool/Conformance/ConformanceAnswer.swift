// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptVerification

/// What a harness answers to a case.
struct ConformanceAnswer {
  let verdict: String
  var reason: String?
  var place: String?
  var values: JSONValue?
  var context: String?

  init(
    verdict: String, reason: String? = nil, place: String? = nil, values: JSONValue? = nil,
    context: String? = nil
  ) {
    self.verdict = verdict
    self.reason = reason
    self.place = place?.isEmpty == false ? place : nil
    self.values = values
    self.context = context
  }

  /// The answer of a verifier; `time` is the instant at which standings are stated.
  init(_ result: Verdict, at time: Timestamp) {
    switch result {
    case .valid(let receipt): self.init(verdict: "valid", values: Self.values(of: receipt, at: time))
    case .invalid(let receipt): self.init("invalid", receipt.reason)
    case .undetermined(let receipt): self.init("undetermined", receipt.reason)
    }
  }

  private init(_ verdict: String, _ reason: Reason) {
    self.init(verdict: verdict, reason: reason.code.rawValue, place: reason.place, context: reason.message)
  }

  /// The line that answers a case.
  func line(_ id: String) -> [UInt8] {
    var line = JSONValue.members(
      ("id", .string(id)), ("verdict", .string(verdict)), ("reason", reason.map { .string($0) }),
      ("place", place.map { .string($0) }), ("values", values), ("context", context.map { .string($0) })
    ).encoded()
    line.append(UInt8(ascii: "\n"))
    return line
  }

  private static func values(of receipt: VerifiedReceipt, at time: Timestamp) -> JSONValue {
    .members(
      ("environment", receipt.environment?.category.map { .string($0.rawValue) }),
      ("bundleId", receipt.bundleId.map { .string($0) }),
      ("signedAt", receipt.signedAt.map { .string($0.iso8601) }),
      ("algorithm", .string(receipt.signer.algorithm.rawValue)),
      ("transactions", .array(receipt.transactions.map(value))), ("license", license(in: receipt.content)),
      ("standing", .array(receipt.purchases.map { standing(of: $0, at: time) })))
  }

  private static func license(in content: VerifiedReceipt.Content) -> JSONValue? {
    guard case .detached(.googlePlayLicense(let license)) = content else { return nil }
    return .members(
      ("responseCode", .integer(license.responseCode.rawValue)),
      ("isLicensed", .bool(license.responseCode.isLicensed)),
      ("validUntil", license.validUntil.map { .string($0.iso8601) }))
  }

  private static func value(of transaction: Transaction) -> JSONValue {
    .members(
      ("transactionId", transaction.transactionId.map { .string($0) }),
      ("originalTransactionId", transaction.originalTransactionId.map { .string($0) }),
      ("productId", transaction.productId.map { .string($0) }),
      ("quantity", transaction.quantity.map { .integer($0) }),
      ("purchaseDate", transaction.purchaseDate.map { .string($0.iso8601) }),
      ("originalPurchaseDate", transaction.originalPurchaseDate.map { .string($0.iso8601) }),
      ("expiresDate", transaction.expiresDate.map { .string($0.iso8601) }),
      ("revocationDate", transaction.revocationDate.map { .string($0.iso8601) }),
      ("purchaseToken", transaction.purchaseToken.map { .string($0) }))
  }

  private static func standing(of purchase: Purchase, at time: Timestamp) -> JSONValue {
    .members(
      ("transactionId", purchase.transaction.transactionId.map { .string($0) }),
      ("standing", .string(purchase.standing(at: time).status.rawValue)))
  }
}
