// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// A small certificate authority for stores of your own and for tests.
///
/// It has a root, an intermediate under it, and the leaves that sign receipts (RFC 5280), with the extensions that
/// receipt verifiers require.
///
/// ```swift
/// let authority = try CertificateAuthority.create(.init(organization: "Example", start: now))
/// let identity = try authority.issueLeaf()
/// ```
///
/// Give ``root`` to verifiers. The keys of this authority live in memory; ``AuthorityDirectory`` keeps them in files.
public struct CertificateAuthority: Sendable {
  /// The kind of all keys.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// P-256 with SHA-256: for signed JWS.
    case es256
    /// RSA of 2048 bits with SHA-256: for app receipts and transaction receipts.
    case rsa2048

    package func generateKey() throws(SigningError) -> PrivateKey {
      do throws(CryptoError) {
        switch self {
        case .es256: return try PrivateKey.generateP256()
        case .rsa2048: return try PrivateKey.generateRSA(bits: 2048)
        }
      } catch {
        throw SigningError(error)
      }
    }
  }

  package let options: Options
  /// The root's certificate, which is the trust anchor.
  public let root: Certificate
  /// The intermediate: its key, with its certificate and the root's.
  package let intermediate: SigningIdentity

  /// Creates root and intermediate with new keys.
  ///
  /// The root's private key is discarded: after it signed the only intermediate, it is no longer needed.
  ///
  /// - Throws: ``SigningError`` with `invalid-value` if X.509 cannot express a name or a time, or `crypto-failure`.
  public static func create(_ options: Options) throws(SigningError) -> CertificateAuthority {
    try create(
      options, rootKey: options.algorithm.generateKey(), intermediateKey: options.algorithm.generateKey())
  }

  /// Creates root and intermediate for existing keys.
  package static func create(
    _ options: Options, rootKey: PrivateKey, intermediateKey: PrivateKey
  ) throws(SigningError) -> CertificateAuthority {
    let root = try issue(options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    return try create(options, root: root, rootKey: rootKey, intermediateKey: intermediateKey)
  }

  /// Creates an intermediate under an existing root.
  package static func create(
    _ options: Options, root: Certificate, rootKey: PrivateKey, intermediateKey: PrivateKey
  ) throws(SigningError) -> CertificateAuthority {
    let intermediate = try issue(
      options.intermediateTemplate, for: intermediateKey.publicKey, by: .authority(root, rootKey))
    return try CertificateAuthority(
      options: options,
      intermediate: SigningIdentity(privateKey: intermediateKey, chain: [intermediate, root]))
  }

  /// Creates an authority that issues further leaves with the key of an existing intermediate.
  ///
  /// - Throws: ``SigningError`` with `chain-length` unless the chain has exactly two certificates.
  package init(options: Options, intermediate: SigningIdentity) throws(SigningError) {
    guard let root = intermediate.chain.last, intermediate.chain.count == 2 else {
      throw SigningError(
        .chainLength,
        "The chain of an intermediate is intermediate, root; this one has \(intermediate.chain.count) "
          + "certificate(s).")
    }
    self.options = options
    self.root = root
    self.intermediate = intermediate
  }

  /// Issues a leaf and returns its identity, which signs receipts and has the chain leaf, intermediate, root.
  ///
  /// - Throws: ``SigningError`` with `invalid-value` or `crypto-failure`.
  package func issueLeaf(
    key: PrivateKey? = nil, serialNumber: [UInt8]? = nil
  ) throws(SigningError) -> SigningIdentity {
    var template = options.leafTemplate
    if let serialNumber { template.serialNumber = serialNumber }
    return try issueLeaf(template, key: key)
  }

  /// Issues the leaf that the template describes, even an invalid one; the template's end of validity is limited to the
  /// issuer's.
  package func issueLeaf(
    _ template: CertificateTemplate, key: PrivateKey? = nil
  ) throws(SigningError) -> SigningIdentity {
    guard let issuer = intermediate.leaf else { throw SigningError(.emptyChain, "There is no intermediate.") }
    let key = if let key { key } else { try options.algorithm.generateKey() }
    // A leaf must not outlive its issuer, because its chain is then no longer valid.
    var template = template
    template.notAfter = min(template.notAfter, max(issuer.notAfter, template.notBefore))
    let leaf = try Self.issue(
      template, for: key.publicKey, by: .authority(issuer, intermediate.privateKey))
    return try SigningIdentity(privateKey: key, chain: [leaf] + intermediate.chain)
  }

  package static func issue(
    _ template: CertificateTemplate, for key: PublicKey, by issuer: CertificateIssuer
  ) throws(SigningError) -> Certificate {
    do throws(CryptoError) {
      return try Certificate.issue(template, for: key, by: issuer)
    } catch {
      throw error.code == .invalidTemplate
        ? SigningError(.invalidValue, error.message) : SigningError(error)
    }
  }
}

extension SigningIdentity {
  /// Creates an identity that is ready to sign: a root, an intermediate and a leaf with new keys.
  ///
  /// Only the leaf's key is kept. Give the root, the last certificate of ``chain``, to verifiers.
  public static func create(_ options: CertificateAuthority.Options) throws(SigningError) -> SigningIdentity {
    try CertificateAuthority.create(options).issueLeaf()
  }
}
