// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Purchases and licences of Google Play and Huawei AppGallery: an RSA signature over data, with the key that the
/// policy names for the package in the data.
extension SignedMessage {
  convenience init(
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
      // Data that was parsed and written again may still name its app, whose key explains the damage. Without that key
      // it is malformed all the same, and no key could make it valid.
      guard let claimed = DamagedData(receipt.signedBytes).packageName,
        PurchaseStore.allCases.contains(where: { appKeys.contains(claimed, at: $0) })
      else { throw .malformed(error) }
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
    self.init(
      .detached(receipt), algorithm: try Self.algorithm(of: receipt, from: store),
      signed: .bytes(receipt.signedBytes[...], sharedPrefix: 0), signature: receipt.signature[...],
      cacheKey: SignerCacheKey(Array(package.utf8)[...], store.name),
      keySource: .app(package: package, store: store), detachedContent: content, limits: limits)
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
}

extension DecodedContent {
  init(_ content: DetachedContent) {
    self.init(
      content: .detached(content),
      claims: Claims(
        kind: content.kind, environment: content.environment, isEnvironmentSigned: true,
        bundleId: content.packageName, appAppleId: nil, signedAt: content.signedDate, device: nil))
  }
}

extension PurchaseStore {
  /// The store's name in cache keys, created once.
  fileprivate var name: ArraySlice<UInt8> {
    switch self {
    case .googlePlay: Self.googlePlayName
    case .huawei: Self.huaweiName
    }
  }

  private static let googlePlayName = Array(PurchaseStore.googlePlay.rawValue.utf8)[...]
  private static let huaweiName = Array(PurchaseStore.huawei.rawValue.utf8)[...]
}
