// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Builds transaction receipts.
package enum TransactionReceiptWriter {
  /// Returns the bytes to sign: the signature version and the text of the inner property list.
  package static func signedBytes(signatureVersion: UInt8, purchaseInfo: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [signatureVersion]
    bytes += purchaseInfo
    return bytes
  }

  /// Returns the text of the outer property list, which devices deliver in base64.
  ///
  /// - Parameters:
  ///   - signatureVersion: 2 for a 1024-bit RSA key with SHA-1, 3 for a 2048-bit key with SHA-1, 4 for a 2048-bit key
  ///     with SHA-256.
  ///   - signature: The signature over ``signedBytes(signatureVersion:purchaseInfo:)``.
  ///   - leafCertificate: The signer's certificate in DER.
  ///   - purchaseInfo: The text of the inner property list, ``TransactionReceiptPurchaseInfo/encoded()``.
  ///   - environment: The environment, which is written only if it is not production, as in App Store receipts.
  ///   - pod: The App Store's server group.
  /// - Returns: The text.
  /// - Throws: ``MalformedReceipt`` at the key `signature`: `unsupported` for an unknown version, or `invalidValue` if
  ///   the signature has the wrong length or the certificate is not DER.
  package static func encode(
    signatureVersion: UInt8, signature: [UInt8], leafCertificate: [UInt8], purchaseInfo: [UInt8],
    environment: ReceiptEnvironment = .production, pod: String = "100"
  ) throws(MalformedReceipt) -> [UInt8] {
    guard let length = SignatureBlob.signatureLength(ofVersion: signatureVersion) else {
      throw SignatureBlob.failure(
        .unsupported, "The signature version is \(signatureVersion); 2, 3 and 4 are known.")
    }
    guard signature.count == length else {
      throw SignatureBlob.failure(
        .invalidValue,
        "The signature has \(signature.count) bytes; version \(signatureVersion) needs a key of \(length * 8) bits."
      )
    }
    try SignatureBlob.requireDER(leafCertificate)
    var blob: [UInt8] = [signatureVersion]
    blob += signature
    for shift in [24, 16, 8, 0] {
      blob.append(UInt8(truncatingIfNeeded: leafCertificate.count >> shift))
    }
    blob += leafCertificate

    var list = PropertyList()
    list["signature"] = Base64.encodeToString(blob)
    list["purchase-info"] = Base64.encodeToString(purchaseInfo)
    if environment != .production { list["environment"] = environment.rawValue }
    list["pod"] = pod
    list["signing-status"] = "0"
    return list.encoded()
  }
}
