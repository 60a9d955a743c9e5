// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptBytes
internal import ReceiptCrypto

/// Signs purchases as Google Play and Huawei AppGallery do: RSA over the data, with a key of the app and without
/// certificates.
///
/// ```swift
/// let signer = try AppKeySigner(identity: SigningIdentity(appKey: key))
/// let receipt = try signer.sign(.googlePlayPurchase(purchase))
/// ```
public struct AppKeySigner: Sendable {
  /// The identity that signs; its certificates are not used.
  package let identity: SigningIdentity

  /// Creates a signer.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` unless the key is RSA of 2048 bits or more.
  public init(identity: SigningIdentity) throws(SigningError) {
    try identity.requireRSA(atLeast: 2048, for: "A purchase of Google Play or Huawei")
    self.init(unchecked: identity)
  }

  /// Creates a signer with any key, to produce receipts that verifiers must refuse.
  package init(unchecked identity: SigningIdentity) { self.identity = identity }

  /// Signs content.
  ///
  /// - Parameters:
  ///   - content: The purchase or licence.
  ///   - usesPSS: `true` for PSS padding, which Huawei states next to the signature and Google does not use.
  /// - Returns: A JSON object with the members `data` and `signature`, and `signatureAlgorithm` for PSS.
  /// - Throws: ``SigningError`` with `invalid-value` for PSS with Google's content, or `crypto-failure`.
  public func sign(_ content: DetachedContent, usesPSS: Bool = false) throws(SigningError) -> [UInt8] {
    guard !usesPSS || content.store == .huawei else {
      throw SigningError(.invalidValue, "Google Play does not sign with PSS; Huawei does.")
    }
    let algorithm = usesPSS ? .sha256WithRSAPSS : content.store.defaultAlgorithm
    return try sign(
      data: content.encoded(), with: algorithm, stating: usesPSS ? algorithm.rawValue : nil)
  }

  /// Signs data that is already encoded; its bytes are signed unchanged.
  package func sign(
    data: [UInt8], with algorithm: DetachedAlgorithm, stating statedAlgorithm: String? = nil
  ) throws(SigningError) -> [UInt8] {
    let signature = try identity.privateKey.sign(data, using: algorithm.signatureAlgorithm)
    do throws(MalformedReceipt) {
      return try UnverifiedDetachedReceipt(
        signedBytes: data, signature: Base64.encodeToString(signature), algorithm: statedAlgorithm
      ).encoded
    } catch {
      throw SigningError(error)
    }
  }
}

extension DetachedAlgorithm {
  /// The primitive, its digest and its padding.
  var signatureAlgorithm: SignatureAlgorithm {
    switch self {
    case .sha1WithRSA: .rsaPKCS1v15(.sha1)
    case .sha256WithRSA: .rsaPKCS1v15(.sha256)
    case .sha256WithRSAPSS: .rsaPSS(.sha256)
    }
  }
}
