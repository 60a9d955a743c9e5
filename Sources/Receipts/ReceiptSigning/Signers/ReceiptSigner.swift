// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Signs receipts of every kind from ``ReceiptInput``.
///
/// ```swift
/// let signer = ReceiptSigner(identity: identity)
/// let input = try ReceiptInput(decoding: json, as: .signedTransaction, signedAt: now)
/// let receipt = try signer.sign(input)
/// ```
package struct ReceiptSigner: Sendable {
  package let identity: SigningIdentity

  private let jws: Result<JWSSigner, SigningError>
  private let appReceipt: Result<AppReceiptSigner, SigningError>
  private let transactionReceipt: Result<TransactionReceiptSigner, SigningError>
  private let detached: Result<AppKeySigner, SigningError>

  /// Creates a signer. Signing a receipt, not creating the signer, checks that the identity suits the receipt's kind.
  package init(identity: SigningIdentity) {
    self.identity = identity
    self.jws = Result { () throws(SigningError) in try JWSSigner(identity: identity) }
    self.appReceipt = Result { () throws(SigningError) in try AppReceiptSigner(identity: identity) }
    self.transactionReceipt = Result { () throws(SigningError) in
      try TransactionReceiptSigner(identity: identity)
    }
    self.detached = Result { () throws(SigningError) in try AppKeySigner(identity: identity) }
  }

  /// Signs a receipt.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` or `chain-length` if the identity does not suit the kind, or an
  ///   error of the kind's signer.
  package func sign(_ input: ReceiptInput, usesPSS: Bool = false) throws(SigningError) -> [UInt8] {
    switch input.content {
    case .jws(let payload):
      return Array(try jws.get().sign(payload).utf8)
    case .notification(var notification, let parts):
      let signer = try jws.get()
      for part in parts { part.place(&notification, try signer.sign(part.payload)) }
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
