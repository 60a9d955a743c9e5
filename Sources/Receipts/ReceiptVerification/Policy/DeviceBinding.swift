// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The value that binds a receipt to the device that it was made for.
enum DeviceBinding {
  /// App receipt: attribute 5 is the SHA-1 of the device identifier, attribute 4 and the value of attribute 2,
  /// concatenated.
  case sha1Hash([UInt8], opaqueValue: [UInt8], bundleId: [UInt8])
  /// JWS from a device: `deviceVerification` is the base64 of the SHA-384 of the nonce and the device's identifier.
  ///
  /// Both are UUIDs in lower case.
  case deviceVerification(String, nonce: String)
  /// Transaction receipt: the identifier in plain text.
  case vendorIdentifier(String)

  /// Returns the place in which a receipt of the kind states its binding.
  static func place(in kind: ReceiptKind, of binding: DeviceBinding?) -> String {
    switch (kind, binding) {
    case (.appReceipt, _): "attribute 5"
    case (.transactionReceipt, .some): "key \"unique-vendor-identifier\""
    case (_, .some): "$.deviceVerification"
    case (_, nil): ""
    }
  }

  /// Returns `true` if the binding names the device.
  func matches(_ device: [UInt8]) -> Bool {
    // An identifier that does not have 16 bytes is no UUID and matches no binding by text.
    let uuid = UUIDString(bytes: device).rawValue
    return switch self {
    case .sha1Hash(let hash, let opaqueValue, let bundleId):
      ConstantTime.equals(Digest.hash(device + opaqueValue + bundleId, using: .sha1), hash)
    case .deviceVerification(let verification, let nonce):
      ConstantTime.equals(
        Base64.encode(Digest.hash(Array((nonce.lowercased() + uuid).utf8), using: .sha384)),
        Array(verification.utf8))
    case .vendorIdentifier(let identifier):
      ConstantTime.equals(Array(identifier.lowercased().utf8), Array(uuid.utf8))
    }
  }
}
