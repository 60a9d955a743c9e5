// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A transaction receipt from iOS 6 and earlier (`SKPaymentTransaction.transactionReceipt`): parsed, but not verified.
///
/// The receipt is a property list in the OpenStep format with the keys `signature`, `purchase-info`, `pod`,
/// `signing-status` and, outside production, `environment`. Only `purchase-info` is signed.
public struct UnverifiedTransactionReceipt: Sendable, Hashable {
  /// The property list exactly as received.
  package let encoded: [UInt8]
  package let propertyList: PropertyList
  /// The version of the signature, which the signature covers. 2 is a 1024-bit RSA key with SHA-1, 3 a 2048-bit key
  /// with SHA-1, and 4 a 2048-bit key with SHA-256.
  package let signatureVersion: UInt8
  /// The signature in PKCS#1 version 1.5.
  package let signature: [UInt8]
  /// The signer's certificate in DER. The receipt contains no intermediate certificate.
  package let leafCertificate: [UInt8]
  /// The text of the inner property list, exactly as signed.
  package let purchaseInfo: [UInt8]

  /// Parses the text of the outer property list. For base64 around it, see ``UnverifiedReceipt``.
  ///
  /// - Throws: ``MalformedReceipt`` for a malformed property list, or placed at the key `signature` or `purchase-info`.
  ///   The codes are then `missing`; `unsupported` for an unknown signature version; `truncated` or `trailingData` if
  ///   the signature has the wrong length; `invalidValue` if the certificate is not DER; and `invalidBase64`, with the
  ///   offset into the value.
  package init(
    parsing propertyListText: [UInt8], limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) {
    encoded = propertyListText
    propertyList = try PropertyList(parsing: propertyListText, limits: limits, part: "transaction receipt")
    let blob = try Self.decodeBase64(of: "signature", in: propertyList)
    (signatureVersion, signature, leafCertificate) = try SignatureBlob.parse(blob)
    purchaseInfo = try Self.decodeBase64(of: "purchase-info", in: propertyList)
  }

  private static func decodeBase64(
    of key: String, in list: PropertyList
  ) throws(MalformedReceipt) -> [UInt8] {
    guard let text = list[key] else {
      throw MalformedReceipt(.missing, at: .propertyListKey(key), "A transaction receipt must have this key.")
    }
    return try Base64.decode(Array(text.utf8), allowingWhitespace: true, part: key)
  }

  /// The bytes that the signature covers: the version and ``purchaseInfo``.
  package var signedBytes: [UInt8] {
    TransactionReceiptWriter.signedBytes(signatureVersion: signatureVersion, purchaseInfo: purchaseInfo)
  }

  /// Indicates whether the key `environment` is present. Its absence means production, but anyone can remove it.
  package var hasEnvironmentKey: Bool { propertyList["environment"] != nil }

  /// The environment that the receipt claims. Neither this key nor any other statement of the environment is signed.
  package var claimedEnvironment: ReceiptEnvironment {
    propertyList["environment"].map(ReceiptEnvironment.init(rawValue:)) ?? .production
  }

  /// The App Store's server group that made the receipt. It is not signed.
  package var pod: String? { propertyList["pod"] }

  /// The value of `signing-status`: `0` in all known receipts. It is not signed.
  package var signingStatus: String? { propertyList["signing-status"] }

  /// Decodes the inner property list.
  ///
  /// - Parameter limits: The limits on size and on the number of entries.
  /// - Returns: The purchase.
  /// - Throws: ``MalformedReceipt``, placed at the key at fault or at an offset into the text.
  public func decoded(
    limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) -> Unverified<TransactionReceiptPurchaseInfo> {
    Unverified(try TransactionReceiptPurchaseInfo(decoding: purchaseInfo, limits: limits))
  }
}

/// The decoded value of the key `signature`. It consists of the version (1 byte), the signature, the length of the
/// certificate (4 bytes, most significant first) and the certificate.
enum SignatureBlob {
  /// Returns the number of bytes of a version's signature; `nil` for an unknown version.
  static func signatureLength(ofVersion version: UInt8) -> Int? {
    switch version {
    case 2: 128
    case 3, 4: 256
    default: nil
    }
  }

  static func parse(
    _ blob: [UInt8]
  ) throws(MalformedReceipt) -> (version: UInt8, signature: [UInt8], certificate: [UInt8]) {
    guard let version = blob.first else { throw failure(.missing, "The signature is empty.") }
    guard let signatureLength = signatureLength(ofVersion: version) else {
      throw failure(.unsupported, "The signature version is \(version); 2, 3 and 4 are known.")
    }
    let lengthStart = 1 + signatureLength
    let certificateStart = lengthStart + 4
    guard blob.count >= certificateStart else {
      throw failure(
        .truncated,
        "The signature has \(blob.count) bytes; version \(version) needs \(certificateStart) and a certificate."
      )
    }
    let length = blob[lengthStart..<certificateStart].reduce(0) { $0 << 8 | Int($1) }
    let available = blob.count - certificateStart
    guard length >= available else {
      throw failure(.trailingData, "\(available - length) bytes follow the certificate.")
    }
    guard length == available else {
      throw failure(.truncated, "The certificate has \(available) of \(length) bytes.")
    }
    let certificate = Array(blob[certificateStart...])
    try requireDER(certificate)
    return (version, Array(blob[1..<lengthStart]), certificate)
  }

  /// Throws unless the certificate is a SEQUENCE with nothing after it.
  static func requireDER(_ certificate: [UInt8]) throws(MalformedReceipt) {
    do throws(MalformedReceipt) {
      let bytes = certificate.span
      var reader = ReceiptASN1Reader(0..<bytes.count, part: "certificate")
      _ = try reader.read(.sequence, bytes)
      try reader.requireEnd(bytes)
    } catch {
      throw failure(.invalidValue, "The certificate is not DER. \(error.message)")
    }
  }

  static func failure(_ code: MalformedReceipt.Code, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .propertyListKey("signature"), message)
  }
}

/// Builds transaction receipts.
package enum TransactionReceiptWriter {
  /// Returns the bytes to sign: the signature version and the text of the inner property list.
  package static func signedBytes(signatureVersion: UInt8, purchaseInfo: [UInt8]) -> [UInt8] {
    [signatureVersion] + purchaseInfo
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
    blob.append(bigEndian: UInt32(truncatingIfNeeded: leafCertificate.count))
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
