// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// What a receipt offers to be authenticated: the result of recognition, of which nothing was verified. Each format has
/// one type of evidence, which adapts the parsed receipt to these terms. They are classes because evidence goes from
/// stage to stage: to copy its many parts would cost more.
protocol Evidence: AnyObject {
  /// The format that it came in.
  var format: ReceiptFormat { get }
  /// How it says that it is signed.
  var algorithm: ReceiptAlgorithm { get }
  /// What the signature covers.
  var signed: SignedContent { get }
  /// The signature: r ‖ s of 32 bytes each for ES256 (RFC 7518 section 3.4), else PKCS#1 v1.5.
  var signature: ArraySlice<UInt8> { get }
  /// The bytes that determine the signer, by which a signer that was authenticated before is found.
  var cacheKey: SignerCacheKey { get }
  /// The receipt that it was made of.
  var receipt: UnverifiedReceipt { get }
  /// The receipt without its wrapping: ``/ReceiptCodec/UnverifiedReceipt/encoded``.
  var encoded: [UInt8] { get }
  /// What the signature covers, whatever the spelling of all else: ``/ReceiptCodec/UnverifiedReceipt/signedContent``.
  var signedContent: ArraySlice<UInt8> { get }

  /// Reads what leads to the signer's key. It is asked for only where the cache has no such signer.
  func signer() throws(ValidationError) -> SignerEvidence
  /// Decodes the content, once it is authenticated.
  func decodedContent() throws(MalformedReceipt) -> DecodedContent
  /// What became of a receipt whose signature does not match, in the second half of a sentence; `nil` where that cannot
  /// be told. It accepts nothing.
  func explanationOfMismatch(by signer: KnownSigner) -> String?
}

extension Evidence {
  func explanationOfMismatch(by signer: KnownSigner) -> String? { nil }
}

/// The bytes that a signature covers.
enum SignedContent {
  /// The bytes themselves. The first `sharedPrefix` of them are the same in every receipt of the signer.
  case bytes(ArraySlice<UInt8>, sharedPrefix: Int)
  /// Signed attributes that name type and digest of the content (RFC 5652 section 5.4).
  case attributes(CMSSignedAttributes, content: ArraySlice<UInt8>)

  /// The bytes that the signature is verified over.
  var bytes: ArraySlice<UInt8> {
    switch self {
    case .bytes(let bytes, _): bytes
    case .attributes(let attributes, _): attributes.encoded[...]
    }
  }
}

/// How a receipt names its signer.
enum SignerEvidence {
  /// By certificates, which must lead to a trusted root.
  case certificates(CertificateEvidence)
  /// By its app, whose keys the policy names.
  case appKeys([PublicKey], subject: String)
}

/// The certificates that a receipt embeds.
struct CertificateEvidence {
  /// How the signer's certificate is found among those that the receipt embeds.
  enum Leaf {
    /// It is the first.
    case first
    /// It is the one with this issuer and serial number, wherever it stands (RFC 5652 section 5.3).
    case issuer(ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
  }

  /// The certificates in DER, in the order of the receipt.
  let certificates: [[UInt8]]
  /// Which of them is the signer's.
  let leaf: Leaf
  /// What the format requires of them.
  let requirements: SignerRequirements
}
