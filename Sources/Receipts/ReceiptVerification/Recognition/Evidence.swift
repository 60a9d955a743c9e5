// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// The unverified result of recognition: everything that is needed to authenticate a receipt.
///
/// Each format has one type of evidence, which adapts the parsed receipt to this protocol. The types are classes
/// because evidence is passed from stage to stage, and copying its many parts would cost more.
protocol Evidence: AnyObject {
  /// The format of the receipt.
  var format: ReceiptFormat { get }
  /// The signature algorithm that the receipt states.
  var algorithm: ReceiptAlgorithm { get }
  /// The content that the signature covers.
  var signed: SignedContent { get }
  /// The signature: r ‖ s of 32 bytes each for ES256 (RFC 7518 section 3.4), otherwise an RSA signature.
  var signature: ArraySlice<UInt8> { get }
  /// The bytes that determine the signer; the cache key for signers that were authenticated before.
  var cacheKey: SignerCacheKey { get }
  /// The parsed receipt.
  var receipt: UnverifiedReceipt { get }
  /// The receipt without its wrapping: ``/ReceiptCodec/UnverifiedReceipt/encoded``.
  var encoded: [UInt8] { get }
  /// The bytes that the signature covers, independent of the encoding of the rest:
  /// ``/ReceiptCodec/UnverifiedReceipt/signedContent``.
  var signedContent: ArraySlice<UInt8> { get }

  /// Reads the certificates or keys that lead to the signer's key; called only if the cache does not have the signer.
  func signer() throws(ValidationError) -> SignerEvidence
  /// Decodes the content after it is authenticated.
  func decodedContent() throws(MalformedReceipt) -> DecodedContent
  /// Returns the likely cause of a signature mismatch, as the second half of a sentence; `nil` if it is not known.
  ///
  /// The explanation never makes a receipt acceptable.
  func explanationOfMismatch(by signer: KnownSigner) -> String?
}

extension Evidence {
  func explanationOfMismatch(by signer: KnownSigner) -> String? { nil }
}

/// The bytes that a signature covers.
enum SignedContent {
  /// The bytes themselves; the first `sharedPrefix` of them are the same in every receipt of the signer.
  case bytes(ArraySlice<UInt8>, sharedPrefix: Int)
  /// Signed attributes that state the type and digest of the content (RFC 5652 section 5.4).
  case attributes(CMSSignedAttributes, content: ArraySlice<UInt8>)

  /// The bytes over which the signature is verified.
  var bytes: ArraySlice<UInt8> {
    switch self {
    case .bytes(let bytes, _): bytes
    case .attributes(let attributes, _): attributes.encoded[...]
    }
  }
}

/// The way in which a receipt names its signer.
enum SignerEvidence {
  /// By certificates, which must lead to a trusted root.
  case certificates(CertificateEvidence)
  /// By its app, whose keys the policy names.
  case appKeys([PublicKey], subject: String)
}

/// The certificates that a receipt embeds.
struct CertificateEvidence {
  /// The position of the signer's certificate among the embedded certificates.
  enum Leaf {
    /// The first certificate.
    case first
    /// The certificate with this issuer and serial number, in any position (RFC 5652 section 5.3).
    case issuer(ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
  }

  /// The certificates in DER, in the order of the receipt.
  let certificates: [[UInt8]]
  /// The position of the signer's certificate.
  let leaf: Leaf
  /// The format's requirements for the certificates.
  let requirements: SignerRequirements
}
