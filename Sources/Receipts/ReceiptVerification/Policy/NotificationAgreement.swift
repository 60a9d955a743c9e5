// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// The values on which a notification and its signed parts must agree. If the notification omits a value, the first
/// part that states it decides.
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

  /// Requires that a part agrees with the notification and with the parts before it.
  mutating func require(_ part: VerifiedReceipt) throws(ValidationError) {
    try Self.require(&bundleId, part.bundleId, "bundle identifier", UTF8Text.isIdentical)
    try Self.require(&environment, part.environment?.category, "environment", ==)
    try Self.require(&appAppleId, Self.stated(part.appAppleId), "app identifier", ==)
    try Self.require(
      &originalTransactionId, part.transactions.first?.originalTransactionId,
      "original transaction identifier",
      UTF8Text.isIdentical)
  }

  /// Returns the identifier, or `nil` for 0, which the sandbox states if it knows no app.
  private static func stated(_ appAppleId: Int64?) -> Int64? { appAppleId == 0 ? nil : appAppleId }

  /// Requires that two values are equal; an absent value does not differ, because early notifications omit fields.
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
