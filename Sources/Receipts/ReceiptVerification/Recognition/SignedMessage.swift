// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The unverified result of recognition: everything of a receipt that the later stages need. What differs between
/// formats is a value here: the signed bytes, the signature, its algorithm, the source of the signer's key and the
/// content with the way to decode it. An extension for each format creates it. It is a class because it is passed from
/// stage to stage, and copying its many parts would cost more.
final class SignedMessage {
  let algorithm: ReceiptAlgorithm
  let signed: SignedContent
  /// The signature: r ‖ s of 32 bytes each for ES256 (RFC 7518 section 3.4), otherwise an RSA signature.
  let signature: ArraySlice<UInt8>
  /// The bytes that determine the signer; the cache key for signers that were authenticated before.
  let cacheKey: SignerCacheKey
  /// The certificates or keys that lead to the signer's key.
  let keySource: KeySource
  /// The parsed receipt, whose content is decoded after it is authenticated.
  let receipt: UnverifiedReceipt
  /// The data of a detached receipt, decoded during recognition because it names the app, which determines the keys. A
  /// decoding error is thrown only if the signature matches.
  let detachedContent: Result<DetachedContent, MalformedReceipt>?
  let limits: ReceiptLimits

  init(
    _ receipt: UnverifiedReceipt, algorithm: ReceiptAlgorithm, signed: SignedContent,
    signature: ArraySlice<UInt8>, cacheKey: SignerCacheKey, keySource: KeySource,
    detachedContent: Result<DetachedContent, MalformedReceipt>? = nil, limits: ReceiptLimits
  ) {
    self.receipt = receipt
    self.detachedContent = detachedContent
    self.algorithm = algorithm
    self.signed = signed
    self.signature = signature
    self.cacheKey = cacheKey
    self.keySource = keySource
    self.limits = limits
  }

  var format: ReceiptFormat { receipt.format }

  func decodedContent() throws(MalformedReceipt) -> DecodedContent {
    switch receipt {
    case .jws(let jws): DecodedContent(try JWSPayload(decoding: jws.payload, limits: limits))
    case .appReceipt(let receipt): DecodedContent(try receipt.decoded(limits: limits).content)
    case .transactionReceipt(let receipt):
      DecodedContent(try receipt.decoded(limits: limits).content, claiming: receipt.claimedEnvironment)
    case .detached(let receipt):
      if let detachedContent {
        DecodedContent(try detachedContent.get())
      } else {
        DecodedContent(try DetachedContent(decoding: receipt.signedBytes, limits: limits))
      }
    }
  }
}

/// The bytes that a signature covers.
enum SignedContent {
  /// The bytes themselves; the first `sharedPrefix` of them are the same in every receipt of the signer.
  case bytes(ArraySlice<UInt8>, sharedPrefix: Int)
  /// Signed attributes that state the type and digest of the content (RFC 5652 section 5.4). Indirect, so that copies of the
  /// other case, which is that of nearly all receipts, are no longer than it.
  indirect case attributes(CMSSignedAttributes, content: ArraySlice<UInt8>)

  /// The bytes over which the signature is verified.
  var bytes: ArraySlice<UInt8> {
    switch self {
    case .bytes(let bytes, _): bytes
    case .attributes(let attributes, _): attributes.encoded[...]
    }
  }

  /// The bytes that the signature covers, directly or by their digest, independent of the encoding of the rest:
  /// ``/ReceiptCodec/UnverifiedReceipt/signedContent``.
  var content: ArraySlice<UInt8> {
    switch self {
    case .bytes(let bytes, _): bytes
    case .attributes(_, let content): content
    }
  }
}

/// The way in which a receipt leads to its signer's key; it is followed only for a signer that is not known.
enum KeySource {
  /// The certificates in the header of a JWS.
  case header(of: UnverifiedJWS)
  /// The certificates of a container, in any order; issuer and serial number name the signer's (RFC 5652 section 5.3).
  case certificates([ArraySlice<UInt8>], issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
  /// A key identifier in a container, by which no receipt names its signer.
  case keyIdentifier
  /// The signer's certificate alone; the signature version determines its requirements.
  case leaf([UInt8], signatureVersion: UInt8)
  /// The keys that the policy names for an app at a store.
  case app(package: String, store: PurchaseStore)
}

extension DecodedContent {
  /// The summary of the content for diagnostics.
  var summary: String {
    switch content {
    case .jws(let payload): "it is a \(payload.kind.rawValue)"
    case .appReceipt(let payload): "it has \(payload.inAppPurchases.count) in-app purchase(s)"
    case .transactionReceipt(let purchaseInfo): "it is a purchase of \(purchaseInfo.productId ?? "")"
    case .detached(let content):
      "it is a \(content.kind.rawValue) with \(content.transactions.count) purchase(s)"
    }
  }
}
