// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Whether a receipt was made for the device that the policy names. A receipt that is bound to no device
/// fails such a policy.
extension ReceiptVerifier {
  /// App receipt: attribute 5 is the SHA-1 of device identifier, attribute 4 and the value of attribute 2.
  func demandDevice(of payload: AppReceiptPayload) throws(Objection) {
    guard let device = policy.deviceIdentifier else { return }
    guard let opaqueValue = payload.opaqueValue, let expected = payload.sha1Hash else {
      throw .invalid(.wrongDevice, at: "attribute 5", "The receipt is not bound to a device.")
    }
    let hash = Digest.hash(device + opaqueValue + payload.bundleIdValue, using: .sha1)
    guard ConstantTime.equals(hash, expected) else {
      throw .invalid(.wrongDevice, at: "attribute 5", "The receipt was made for another device.")
    }
  }

  /// JWS from a device: `deviceVerification` is the base64 of the SHA-384 of the nonce and the device's
  /// identifier, both UUIDs in lower case.
  func demandDevice(of payload: JWSPayload) throws(Objection) {
    guard let device = policy.deviceIdentifier else { return }
    let binding: (verification: String?, nonce: String?) =
      switch payload {
      case .transaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      case .appTransaction(let transaction):
        (transaction.deviceVerification, transaction.deviceVerificationNonce?.rawValue)
      default: (nil, nil)
      }
    guard let verification = binding.verification, let nonce = binding.nonce else {
      throw .invalid(.wrongDevice, "The receipt is not bound to a device.")
    }
    let text = nonce.lowercased() + uuidText(device)
    let hash = Digest.hash(Array(text.utf8), using: .sha384)
    guard ConstantTime.equals(Base64.encode(hash), Array(verification.utf8)) else {
      throw .invalid(.wrongDevice, at: "$.deviceVerification", "The receipt was made for another device.")
    }
  }

  /// Transaction receipts are bound to a device only by an identifier in plain text.
  func demandDevice(of purchaseInfo: TransactionReceiptPurchaseInfo) throws(Objection) {
    guard let device = policy.deviceIdentifier else { return }
    guard let vendorIdentifier = purchaseInfo.uniqueVendorIdentifier else {
      throw .invalid(.wrongDevice, "The receipt is not bound to a device.")
    }
    guard ConstantTime.equals(Array(vendorIdentifier.lowercased().utf8), Array(uuidText(device).utf8)) else {
      throw .invalid(
        .wrongDevice, at: "key \"unique-vendor-identifier\"", "The receipt was made for another device.")
    }
  }

  /// The usual text of a UUID, in lower case; for other lengths plain hexadecimal, which matches nothing.
  private func uuidText(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if bytes.count == 16, [4, 6, 8, 10].contains(index) { text.append("-") }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }
}
