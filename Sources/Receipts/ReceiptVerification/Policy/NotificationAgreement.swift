// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// What a notification and its signed parts must agree on. What the notification leaves out, its first part says.
struct NotificationAgreement {
  private var bundleId: String?
  private var environment: ReceiptEnvironment.Category?
  private var appAppleId: Int64?
  private var originalTransactionId: String?

  init(_ notification: Claims) {
    bundleId = notification.bundleId
    environment = notification.environment?.category
    appAppleId = Self.stated(notification.appAppleId)
  }

  /// Requires that a part agrees with the notification and the parts before it.
  mutating func require(_ part: VerifiedReceipt) throws(ValidationError) {
    try Self.require(&bundleId, part.bundleId, "bundle identifier", UTF8Text.isIdentical)
    try Self.require(&environment, part.environment?.category, "environment", ==)
    try Self.require(&appAppleId, Self.stated(part.appAppleId), "app identifier", ==)
    try Self.require(
      &originalTransactionId, part.transactions.first?.originalTransactionId,
      "original transaction identifier",
      UTF8Text.isIdentical)
  }

  /// Where the sandbox knows no app it states 0.
  private static func stated(_ appAppleId: Int64?) -> Int64? { appAppleId == 0 ? nil : appAppleId }

  /// Absent is not the same as different: early notifications leave fields out.
  private static func require<Value>(
    _ agreed: inout Value?, _ value: Value?, _ name: String, _ areEqual: (Value, Value) -> Bool
  ) throws(ValidationError) {
    guard let value else { return }
    guard let outer = agreed else {
      agreed = value
      return
    }
    guard !areEqual(outer, value) else { return }
    throw .invalid(
      .nestedMismatch,
      "The \(name) of the signed part, \(value), is not that of what surrounds it, \(outer).")
  }
}
