// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Signs receipts of every kind from ``ReceiptInput``.
///
/// ```swift
/// let signer = ReceiptSigner(identity: identity)
/// let input = try ReceiptInput(decoding: json, as: .signedTransaction, signedAt: now)
/// let receipt = try signer.sign(input)
/// ```
public struct ReceiptSigner: Sendable {
  /// Who signs.
  public let identity: SigningIdentity

  private let jws: Result<JWSSigner, SigningError>
  private let appReceipt: Result<AppReceiptSigner, SigningError>
  private let transactionReceipt: Result<TransactionReceiptSigner, SigningError>
  private let detached: Result<AppKeySigner, SigningError>

  /// Creates a signer. Whether the identity suits a kind is checked when a receipt of that kind is signed.
  public init(identity: SigningIdentity) {
    self.identity = identity
    self.jws = Result { () throws(SigningError) in try JWSSigner(identity: identity) }
    self.appReceipt = Result { () throws(SigningError) in try AppReceiptSigner(identity: identity) }
    self.transactionReceipt = Result { () throws(SigningError) in
      try TransactionReceiptSigner(identity: identity)
    }
    self.detached = Result { () throws(SigningError) in try AppKeySigner(identity: identity) }
  }

  /// Signs.
  ///
  /// - Parameters:
  ///   - input: What is signed.
  ///   - usesPSS: For a purchase of Huawei, whether the padding is PSS.
  /// - Returns: A JWS in compact serialization (ASCII), an app receipt in DER, the property list of a transaction
  ///   receipt (UTF-8), or a JSON object with data and signature.
  /// - Throws: ``SigningError`` with `unsuitable-key` or `chain-length` where the identity does not suit the
  ///   kind, or as the kind's signer.
  public func sign(_ input: ReceiptInput, usesPSS: Bool = false) throws(SigningError) -> [UInt8] {
    switch input.content {
    case .jws(let payload):
      return Array(try jws.get().sign(payload).utf8)
    case .notification(var notification, let parts):
      let signer = try jws.get()
      for part in parts {
        let signed = try signer.sign(part.payload)
        switch part.place {
        case .transactionInfo: notification.data?.signedTransactionInfo = signed
        case .renewalInfo: notification.data?.signedRenewalInfo = signed
        case .appTransactionInfo: notification.appData?.signedAppTransactionInfo = signed
        }
      }
      return Array(try signer.sign(.notification(notification)).utf8)
    case .appReceipt(let payload, let deviceIdentifier):
      return try appReceipt.get().sign(payload, deviceIdentifier: deviceIdentifier)
    case .transactionReceipt(let receipt):
      return try transactionReceipt.get().sign(
        receipt.purchaseInfo, version: receipt.version, environment: receipt.environment)
    case .detached(let content):
      return try detached.get().sign(content, usesPSS: usesPSS)
    }
  }
}
