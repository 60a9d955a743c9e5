// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Explains a signature beside data that does not match the data. The explanation never makes a receipt acceptable; it
/// is asked for only when the receipt is refused.
struct DetachedSignatureDiagnosis {
  private let message: SignedMessage
  private let data: [UInt8]
  private let package: String
  private let store: PurchaseStore

  /// Creates the diagnosis; `nil` for receipts of other formats.
  init?(_ message: SignedMessage) {
    guard case .detached(let receipt) = message.receipt,
      case .app(let package, let store) = message.keySource
    else { return nil }
    (self.message, data, self.package, self.store) = (message, receipt.signedBytes, package, store)
  }

  /// Explains the mismatch.
  func explanation(signer: Signer, appKeys: AppKeys) -> String? {
    let signature = message.signature
    guard case .rsaPKCS1v15(let hash) = message.algorithm.signatureAlgorithm else { return nil }
    for path in signer.paths {
      guard let digest = path.publicKey.digest(in: signature, of: hash) else { continue }
      return DamagedData(data).explanation { candidate in
        ConstantTime.equals(Digest.hash(candidate, using: hash), digest)
      }
    }
    let other = appKeys.all.prefix(Self.maximumKeys).first { key in
      key.publicKey.digest(in: signature, of: .sha1) != nil
        || key.publicKey.digest(in: signature, of: .sha256) != nil
    }
    guard let other else {
      if let length = signer.paths.first?.publicKey.rsaSignatureByteCount, signature.count != length,
        signer.paths.allSatisfy({ $0.publicKey.rsaSignatureByteCount == length })
      {
        return
          "it has \(signature.count) bytes, and the key of \(package) makes signatures of \(length). It was cut short, "
          + "extended or encoded otherwise."
      }
      return
        "no key that the policy names for \(package) made it. It is forged, or damaged, or the app has another "
        + "key."
    }
    if UTF8Text.isIdentical(other.package, package), other.store == store {
      return "the key of \(package) made it with another algorithm than \(message.algorithm.rawValue)."
    }
    return "the key of \(other.package) at \(other.store.displayName) made it, and the data names \(package)."
  }

  /// The maximum number of keys that are tried, so that an explanation costs no more than a few refusals.
  private static let maximumKeys = 16
}

extension PublicKey {
  /// The length in bytes of a signature by this key (RFC 8017 section 8); `nil` for keys other than RSA.
  fileprivate var rsaSignatureByteCount: Int? {
    if case .rsa(let bits) = kind { (bits + 7) / 8 } else { nil }
  }
}
