// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Purchases and licences of Google Play and Huawei AppGallery: an RSA signature over data, with the key that the
/// policy names for the package in the data.
final class DetachedEvidence: Evidence {
  let algorithm: ReceiptAlgorithm
  private let detached: UnverifiedDetachedReceipt
  private let appKeys: AppKeys
  private let store: PurchaseStore
  /// The app that the data names, which determines the keys.
  private let package: String
  private let packageBytes: ArraySlice<UInt8>
  /// The content, or the decoding error, which is thrown only if the signature matches.
  private let content: Result<DetachedContent, MalformedReceipt>

  init(
    _ receipt: UnverifiedDetachedReceipt, appKeys: AppKeys, limits: ReceiptLimits
  ) throws(ValidationError) {
    guard !receipt.signature.isEmpty else {
      throw .invalid(
        .unsigned, at: "$.signature",
        "The signature is empty. Static test products (android.test.…) have none; a purchase has one.")
    }
    var content = Result { () throws(MalformedReceipt) in
      try DetachedContent(decoding: receipt.signedBytes, limits: limits)
    }
    let package: String
    var store: PurchaseStore
    switch content {
    case .success(let content):
      package = content.packageName ?? ""
      store = content.store
    case .failure(let error):
      // Data that was parsed and written again may still name its app, so that the damage can be explained.
      guard let claimed = DamagedData(receipt.signedBytes).packageName else { throw .malformed(error) }
      package = claimed
      store = DetachedContent.claimedKind(of: receipt.signedBytes) == .huaweiPurchase ? .huawei : .googlePlay
    }
    // Unverified data must not choose its own trust: if the policy has keys of the app only at another store, that
    // store's key must have signed.
    if !appKeys.contains(package, at: store),
      let other = PurchaseStore.allCases.first(where: { appKeys.contains(package, at: $0) })
    {
      store = other
      content = Result { () throws(MalformedReceipt) in
        try DetachedContent(decoding: receipt.signedBytes, store: other, limits: limits)
      }
    }
    self.algorithm = try Self.algorithm(of: receipt, from: store)
    self.detached = receipt
    self.appKeys = appKeys
    self.store = store
    self.package = package
    packageBytes = Array(package.utf8)[...]
    self.content = content
  }

  private static func algorithm(
    of receipt: UnverifiedDetachedReceipt, from store: PurchaseStore
  ) throws(ValidationError) -> ReceiptAlgorithm {
    guard let stated = receipt.statedAlgorithm else { return ReceiptAlgorithm(store.defaultAlgorithm) }
    let allowed: [DetachedAlgorithm] =
      switch store {
      case .googlePlay: [.sha1WithRSA]
      case .huawei: [.sha256WithRSA, .sha256WithRSAPSS]
      }
    guard let named = DetachedAlgorithm(named: stated), allowed.contains(named) else {
      throw .invalid(
        .unsupportedAlgorithm, at: "$.signatureAlgorithm",
        "The algorithm is \"\(stated)\"; \(store.displayName) signs with "
          + allowed.map(\.rawValue).joined(separator: " or ") + ".")
    }
    return ReceiptAlgorithm(named)
  }

  var format: ReceiptFormat { .detached }
  var signed: SignedContent { .bytes(signedContent, sharedPrefix: 0) }
  var signature: ArraySlice<UInt8> { detached.signature[...] }
  var cacheKey: SignerCacheKey { SignerCacheKey(packageBytes, storeName) }
  var receipt: UnverifiedReceipt { .detached(detached) }
  var encoded: [UInt8] { detached.encoded }
  var signedContent: ArraySlice<UInt8> { detached.signedBytes[...] }

  private var storeName: ArraySlice<UInt8> {
    switch store {
    case .googlePlay: Self.googlePlayName
    case .huawei: Self.huaweiName
    }
  }

  private static let googlePlayName = Array(PurchaseStore.googlePlay.rawValue.utf8)[...]
  private static let huaweiName = Array(PurchaseStore.huawei.rawValue.utf8)[...]

  private var keySubject: String { "key of \(package) at \(store.displayName)" }

  func signer() throws(ValidationError) -> SignerEvidence {
    let keys = appKeys.keys(of: package, at: store)
    guard keys.isEmpty else { return .appKeys(keys, subject: keySubject) }
    let option =
      switch store {
      case .googlePlay: "--play-key"
      case .huawei: "--huawei-key"
      }
    throw .undetermined(
      Reason(
        .keyMissing,
        "The policy names no \(keySubject). Take it from the store's console (receipt-tool: \(option) "
          + "\(package)=FILE)."))
  }

  func decodedContent() throws(MalformedReceipt) -> DecodedContent {
    let content = try content.get()
    return DecodedContent(
      content: .detached(content),
      claims: Claims(
        kind: content.kind, environment: content.environment, isEnvironmentSigned: true,
        bundleId: content.packageName, appAppleId: nil, signedAt: content.signedDate, device: nil))
  }

  func explanationOfMismatch(by signer: KnownSigner) -> String? {
    guard case .rsaPKCS1v15(let hash) = algorithm.signatureAlgorithm else { return nil }
    for path in signer.paths {
      guard let digest = path.publicKey.digest(in: signature, of: hash) else { continue }
      return DamagedData(detached.signedBytes).explanation { candidate in
        ConstantTime.equals(Digest.hash(candidate, using: hash), digest)
      }
    }
    let other = appKeys.all.prefix(Self.maximumKeysForExplanation).first { key in
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
      return "the key of \(package) made it with another algorithm than \(algorithm.rawValue)."
    }
    return "the key of \(other.package) at \(other.store.displayName) made it, and the data names \(package)."
  }

  /// The maximum number of keys that are tried for an explanation, so that it costs no more than a few refusals.
  private static let maximumKeysForExplanation = 16
}

extension PublicKey {
  /// The length in bytes of a signature by this key (RFC 8017 section 8); `nil` for keys other than RSA.
  fileprivate var rsaSignatureByteCount: Int? {
    if case .rsa(let bits) = kind { (bits + 7) / 8 } else { nil }
  }
}
