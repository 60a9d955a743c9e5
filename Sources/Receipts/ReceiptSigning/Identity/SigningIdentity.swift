// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
public import ReceiptCrypto

/// An identity that signs: a private key with its certificate chain, or a key of an app, which has no certificates.
///
/// The key is never printed: descriptions, dumps and mirrors show subjects and fingerprints instead.
public struct SigningIdentity: Sendable {
  /// The private key, which belongs to the first certificate of ``chain``.
  public let privateKey: PrivateKey
  /// The certificates, leaf first; for Apple's receipts leaf, intermediate, root. Empty for the key of an app.
  public let chain: [Certificate]

  /// Creates an identity from a key and its chain.
  ///
  /// - Throws: ``SigningError`` with `empty-chain`, `key-mismatch` if the key does not belong to the leaf, or
  ///   `broken-chain` if a certificate was not issued and signed by the next one.
  public init(privateKey: PrivateKey, chain: [Certificate]) throws(SigningError) {
    guard let leaf = chain.first else {
      throw SigningError(
        .emptyChain, "The chain has no certificate. Give the leaf's certificate and those above it.")
    }
    guard leaf.publicKey == privateKey.publicKey else {
      throw SigningError(
        .keyMismatch,
        "The private key does not belong to \"\(leaf.subject)\", the first certificate of the chain. The "
          + "leaf comes first; check that key and chain are of one identity.")
    }
    for (index, (certificate, issuer)) in zip(chain, chain.dropFirst()).enumerated() {
      guard certificate.issuerDER == issuer.subjectDER, certificate.isSigned(by: issuer) else {
        throw SigningError(
          .brokenChain, at: "certificate \(index)",
          "\"\(certificate.subject)\" was not issued by the next certificate, \"\(issuer.subject)\". "
            + "The order is leaf, intermediate, root.")
      }
    }
    self.init(uncheckedKey: privateKey, chain: chain)
  }

  /// Creates an identity from a key without certificates, as Google Play and Huawei AppGallery use one for each app.
  public init(appKey privateKey: PrivateKey) { self.init(uncheckedKey: privateKey, chain: []) }

  /// Creates an unchecked identity, to produce receipts that verifiers must refuse.
  package init(uncheckedKey privateKey: PrivateKey, chain: [Certificate]) {
    self.privateKey = privateKey
    self.chain = chain
  }

  /// The signer's certificate; `nil` for the key of an app.
  package var leaf: Certificate? { chain.first }
}

extension SigningIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The leaf's subject and fingerprint; for the key of an app, the public key's fingerprint.
  public var description: String {
    guard let leaf else { return "SigningIdentity(key, sha256 \(privateKey.publicKey.sha256FingerprintHex))" }
    return "SigningIdentity(\(leaf.subject), sha256 \(leaf.sha256FingerprintHex))"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// The certificates without the key.
  public var customMirror: Mirror { Mirror(self, children: ["chain": chain.map(\.description)]) }
}

extension SigningIdentity {
  /// Reads an identity from the contents of a key file and a chain file.
  ///
  /// - Parameters:
  ///   - keyFile: The private key in PEM or DER: PKCS#8 (RFC 5958), encrypted PKCS#8, SEC1 (RFC 5915) or
  ///     PKCS#1 (RFC 8017).
  ///   - chainFile: The certificates in PEM, leaf first, or a single certificate in DER.
  ///   - passphrase: The passphrase of an encrypted key, in UTF-8.
  /// - Throws: ``SigningError`` with `malformed-key`, `passphrase-required`, `wrong-passphrase`, `unsuitable-key`,
  ///   `malformed-certificate`, or an error of ``init(privateKey:chain:)``.
  public init(
    keyFile: [UInt8], chainFile: [UInt8], passphrase: [UInt8]? = nil
  ) throws(SigningError) {
    try self.init(
      privateKey: Self.privateKey(inFile: keyFile, passphrase: passphrase),
      chain: Self.certificates(inFile: chainFile))
  }

  /// Reads a private key file in PEM or DER.
  package static func privateKey(
    inFile contents: [UInt8], passphrase: [UInt8]? = nil
  ) throws(SigningError) -> PrivateKey {
    do throws(CryptoError) {
      // Every private key in DER is a SEQUENCE (0x30). The length byte after it may look like text: a P-256 key of SEC
      // 1 begins 0x30 0x77, "0w".
      if contents.first == 0x30, !contents.contains(Array("-----BEGIN".utf8)) {
        return try PrivateKey(der: contents, passphrase: passphrase)
      }
      return try PrivateKey(pem: String(decoding: contents, as: UTF8.self), passphrase: passphrase)
    } catch {
      throw SigningError(error)
    }
  }

  package static func certificates(inFile contents: [UInt8]) throws(SigningError) -> [Certificate] {
    do throws(CryptoError) {
      return try Certificate.certificates(in: contents)
    } catch {
      throw SigningError(.malformedCertificate, error.description)
    }
  }
}

/// Passphrases from files and environment variables.
package enum Passphrase {
  /// Returns the passphrase without one trailing line end (LF or CR LF), which editors and `echo` append.
  package static func trimmingLineEnd(_ contents: [UInt8]) -> [UInt8] {
    var passphrase = contents
    guard passphrase.last == 0x0A else { return passphrase }
    passphrase.removeLast()
    if passphrase.last == 0x0D { passphrase.removeLast() }
    return passphrase
  }
}

extension SigningError {
  package init(_ error: CryptoError, at place: String = "") {
    let code: Code =
      switch error.code {
      case .malformedCertificate: .malformedCertificate
      case .malformedKey, .malformedPEM: .malformedKey
      case .keyMismatch: .keyMismatch
      case .wrongPassphrase: .wrongPassphrase
      case .passphraseRequired: .passphraseRequired
      case .unsupportedKey, .unsupportedAlgorithm: .unsuitableKey
      case .tokenUnavailable: .tokenUnavailable
      default: .cryptoFailure
      }
    self.init(code, at: place, error.description)
  }

  package init(_ error: MalformedReceipt) {
    let code: Code = error.code == .missing ? .missingField : .malformedInput
    self.init(code, at: error.place == .whole ? "" : error.place.description, error.message)
  }
}

extension PrivateKey {
  func sign(_ message: [UInt8], using algorithm: SignatureAlgorithm) throws(SigningError) -> [UInt8] {
    do throws(CryptoError) {
      return try signature(for: message, using: algorithm)
    } catch {
      throw SigningError(error)
    }
  }
}
