// SPDX-License-Identifier: Apache-2.0

/// The kinds of signed proof of purchase. The raw values are the names that `receipt-tool` prints.
public enum ReceiptKind: String, Sendable, Hashable, CaseIterable {
  /// A JWS whose payload is a transaction (`signedTransactionInfo`).
  case signedTransaction = "signed-transaction"
  /// A JWS whose payload is subscription renewal information (`signedRenewalInfo`).
  case signedRenewalInfo = "signed-renewal-info"
  /// A JWS whose payload is an app transaction (`signedAppTransactionInfo`).
  case signedAppTransaction = "signed-app-transaction"
  /// A JWS whose payload is an App Store Server Notification version 2 (`signedPayload`).
  case signedNotification = "signed-notification"
  /// A JWS whose payload is a realtime request of the Retention Messaging API (`signedPayload`).
  case signedRealtimeRequest = "signed-realtime-request"
  /// The PKCS#7 container of an app, with all its purchases (`receipt-data`).
  case appReceipt = "app-receipt"
  /// The property list of one `SKPaymentTransaction` of iOS 6 and before.
  case transactionReceipt = "transaction-receipt"
}
