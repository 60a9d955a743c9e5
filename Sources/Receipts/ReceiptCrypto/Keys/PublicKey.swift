// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// A public key. Two keys are equal if their DER is.
public struct PublicKey: Sendable {
  package enum Kind: Sendable, Hashable {
    /// The named curve NIST P-256 (prime256v1).
    case p256
    /// The named curve NIST P-384 (secp384r1).
    case p384
    /// The named curve NIST P-521 (secp521r1).
    case p521
    /// RSA with a modulus of the given number of bits.
    ///
    /// Only keys of 1024 to 8192 bits with a public exponent of at most 32 bits verify signatures. A signature by any
    /// other RSA key is invalid.
    case rsa(bits: Int)
    /// Any other kind, with OpenSSL's name for it. No signature by such a key is valid.
    case other(String)

    /// The name of the kind in reports, such as `RSA-2048`.
    package var name: String {
      switch self {
      case .p256: "P-256"
      case .p384: "P-384"
      case .p521: "P-521"
      case .rsa(let bits): "RSA-\(bits)"
      case .other(let name): name
      }
    }
  }

  /// The DER of the SubjectPublicKeyInfo (RFC 5280 section 4.1).
  package let subjectPublicKeyInfo: [UInt8]

  /// `nil` for a key in a certificate that OpenSSL cannot decode; it verifies no signature.
  let backing: KeyBacking?

  /// Decodes a SubjectPublicKeyInfo in DER, with nothing after it.
  ///
  /// - Throws: ``CryptoError/Code/malformedKey`` if it is not a SubjectPublicKeyInfo, not in DER, or its point is not
  ///   on the curve.
  package init(subjectPublicKeyInfo: [UInt8]) throws(CryptoError) {
    ErrorQueue.clear()
    let decoded = unsafe OpenSSLBytes.decoded(subjectPublicKeyInfo, free: { unsafe EVP_PKEY_free($0) }) {
      unsafe d2i_PUBKEY(nil, $0, $1)
    }
    guard let key = unsafe decoded else {
      throw ErrorQueue.error(.malformedKey, "This is not a public key (SubjectPublicKeyInfo) in DER.")
    }
    let encoded = unsafe OpenSSLBytes.encoded { unsafe i2d_PUBKEY(key, $0) }
    guard encoded == subjectPublicKeyInfo else {
      unsafe EVP_PKEY_free(key)
      throw ErrorQueue.error(.malformedKey, "The public key is not in DER: encoded again, its bytes differ.")
    }
    self.subjectPublicKeyInfo = subjectPublicKeyInfo
    self.backing = unsafe try KeyBacking(takingOwnership: key, subjectPublicKeyInfo: subjectPublicKeyInfo)
  }

  /// Reads the first `PUBLIC KEY` block of a PEM text.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` if there is no such block, or ``CryptoError/Code/malformedKey`` if the
  ///   block contains something else.
  public init(pem: String) throws(CryptoError) {
    let blocks = try PEMBlock.blocks(in: Array(pem.utf8))
    guard let block = blocks.first(where: { $0.label == "PUBLIC KEY" && !$0.hasHeaders }) else {
      throw CryptoError(
        .malformedPEM,
        "There is no \"PUBLIC KEY\" block in this PEM text. Make one with: openssl pkey -in KEY -pubout")
    }
    try self.init(subjectPublicKeyInfo: block.bytes)
  }

  init(subjectPublicKeyInfo: [UInt8], backing: KeyBacking?) {
    self.subjectPublicKeyInfo = subjectPublicKeyInfo
    self.backing = backing
  }

  package var kind: Kind { backing?.kind ?? .other("undecodable") }

  /// The key as a PEM block with the label `PUBLIC KEY`.
  public var pem: String { PEMBlock.encode(subjectPublicKeyInfo, label: "PUBLIC KEY") }

  /// The SHA-256 of the SubjectPublicKeyInfo, in lower-case hexadecimal.
  package var sha256FingerprintHex: String {
    Hexadecimal.encode(Digest.hash(subjectPublicKeyInfo, using: .sha256))
  }

  var isSupported: Bool { backing?.isSupported ?? false }
}

extension PublicKey: Hashable {
  /// Returns `true` if both keys have the same SubjectPublicKeyInfo.
  public static func == (lhs: PublicKey, rhs: PublicKey) -> Bool {
    lhs.subjectPublicKeyInfo == rhs.subjectPublicKeyInfo
  }

  /// Hashes the SubjectPublicKeyInfo.
  public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfo) }
}

extension PublicKey {
  /// Indicates whether libcrypto can decode a valid key, the one of RFC 6979 appendix A.2.5.
  static var canDecode: Bool { (try? PublicKey(subjectPublicKeyInfo: knownKey)) != nil }

  static let knownKey =
    Hexadecimal.decode(
      "3059301306072a8648ce3d020106082a8648ce3d0301070342000460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f2"
        + "9fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299") ?? []
}

extension PublicKey {
  /// Reads a public key file that contains a SubjectPublicKeyInfo.
  ///
  /// It may be in DER, in PEM (`PUBLIC KEY`), or in base64 without the lines of PEM, as the Play Console and AppGallery
  /// Connect show it. White space in base64 and a leading byte order mark are ignored.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` or ``CryptoError/Code/malformedKey``.
  public init(inFile contents: [UInt8]) throws(CryptoError) {
    let contents = ByteOrderMark.dropped(from: contents)
    // DER begins with 0x30, which is a digit in text. The base64 of a SubjectPublicKeyInfo begins with "M".
    if contents.first == 0x30 {
      try self.init(subjectPublicKeyInfo: contents)
      return
    }
    if ByteSearch.contains("-----BEGIN", in: contents.span) {
      try self.init(pem: String(decoding: contents, as: UTF8.self))
      return
    }
    guard let der = try? Base64.decode(contents, allowingWhitespace: true), !der.isEmpty else {
      throw CryptoError(
        .malformedKey,
        "This is no public key: it is neither DER, nor PEM, nor the base64 that a store's console shows.")
    }
    try self.init(subjectPublicKeyInfo: der)
  }
}
