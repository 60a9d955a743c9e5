// SPDX-License-Identifier: Apache-2.0

/// The `status` of a response of `verifyReceipt`. Unknown numbers are kept.
struct VerifyReceiptStatus: RawRepresentable, Sendable, Hashable {
  /// The number.
  let rawValue: Int64

  /// Creates one from any number.
  init(rawValue: Int64) { self.rawValue = rawValue }

  /// 0: the receipt is valid, also when a subscription in it expired.
  static let valid = VerifyReceiptStatus(rawValue: 0)
  /// 21000: the request was no POST; older: its JSON could not be read.
  static let badRequest = VerifyReceiptStatus(rawValue: 21000)
  /// 21001: no longer sent.
  static let retired = VerifyReceiptStatus(rawValue: 21001)
  /// 21002: `receipt-data` is malformed or missing, or the store has temporary trouble.
  static let malformedOrTemporary = VerifyReceiptStatus(rawValue: 21002)
  /// 21003: the receipt could not be authenticated.
  static let notAuthenticated = VerifyReceiptStatus(rawValue: 21003)
  /// 21004: the shared secret is not the account's.
  static let sharedSecretMismatch = VerifyReceiptStatus(rawValue: 21004)
  /// 21005: the server is temporarily unavailable.
  static let unavailable = VerifyReceiptStatus(rawValue: 21005)
  /// 21006: the receipt is valid, its subscription expired; receipts of iOS 6 style only.
  static let validButExpired = VerifyReceiptStatus(rawValue: 21006)
  /// 21007: a sandbox receipt was sent to production.
  static let sandboxReceipt = VerifyReceiptStatus(rawValue: 21007)
  /// 21008: a production receipt was sent to the sandbox.
  static let productionReceipt = VerifyReceiptStatus(rawValue: 21008)
  /// 21009: an internal error.
  static let internalError = VerifyReceiptStatus(rawValue: 21009)
  /// 21010: the account is not found or was deleted.
  static let accountNotFound = VerifyReceiptStatus(rawValue: 21010)

  /// 21100 to 21199: an internal error; `is-retryable` says whether to ask again.
  var isInternalDataAccessError: Bool { 21100...21199 ~= rawValue }

  /// What it means, in words.
  var meaning: String {
    switch self {
    case .valid: "the receipt is valid"
    case .badRequest: "the request was not understood"
    case .retired: "a status that is no longer sent"
    case .malformedOrTemporary: "the receipt data is malformed, or the store has temporary trouble"
    case .notAuthenticated: "the receipt could not be authenticated"
    case .sharedSecretMismatch: "the shared secret is not the one of the account"
    case .unavailable: "the server is temporarily unavailable"
    case .validButExpired: "the receipt is valid and its subscription expired"
    case .sandboxReceipt: "the receipt is from the sandbox"
    case .productionReceipt: "the receipt is from production"
    case .internalError: "an internal error of the store"
    case .accountNotFound: "the account is not found or was deleted"
    default: isInternalDataAccessError ? "an internal data access error" : "an unknown status"
    }
  }
}

extension VerifyReceiptStatus: CustomStringConvertible {
  /// Number and meaning.
  var description: String { "Status \(rawValue): \(meaning)." }
}
