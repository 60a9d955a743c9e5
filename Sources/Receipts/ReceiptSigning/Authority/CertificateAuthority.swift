// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// A small certificate authority for stores of your own and for tests: a root, an intermediate under it, and
/// the leaves that sign receipts (RFC 5280), with the extensions that verifiers of receipts require.
///
/// ```swift
/// let authority = try CertificateAuthority.create(.init(organization: "Example", start: now))
/// let identity = try authority.issueLeaf()
/// ```
///
/// Keep ``intermediate`` in a safe place to issue further leaves later; give ``root`` to verifiers.
public struct CertificateAuthority: Sendable {
  /// The kind of all three keys.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// P-256 with SHA-256: for signed JWS.
    case es256
    /// RSA of 2048 bits with SHA-256: for app receipts and transaction receipts.
    case rsa2048

    /// Makes a new key.
    public func generateKey() throws(SigningError) -> PrivateKey {
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

  /// What the authority's certificates say.
  public let options: Options
  /// The root's certificate: the trust anchor.
  public let root: Certificate
  /// The intermediate: its key, its certificate and the root's.
  public let intermediate: SigningIdentity

  /// Creates root and intermediate with new keys. The root's private key is not kept: a root that signed its
  /// one intermediate has nothing left to do.
  ///
  /// - Throws: ``SigningError`` with `invalid-value` for names or times that X.509 cannot express, or
  ///   `crypto-failure`.
  public static func create(_ options: Options) throws(SigningError) -> CertificateAuthority {
    try create(
      options, rootKey: options.algorithm.generateKey(), intermediateKey: options.algorithm.generateKey())
  }

  /// Creates root and intermediate for existing keys.
  public static func create(
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

  /// An authority that issues further leaves with the key of an intermediate that was kept.
  ///
  /// - Parameters:
  ///   - options: What further leaves say.
  ///   - intermediate: The intermediate's key; its chain is intermediate, root.
  /// - Throws: ``SigningError`` with `chain-length` unless the chain is of these two.
  public init(options: Options, intermediate: SigningIdentity) throws(SigningError) {
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

  /// Issues a leaf and gives the identity that signs receipts, its chain leaf, intermediate, root.
  ///
  /// - Parameters:
  ///   - key: The leaf's key; a new one by default.
  ///   - serialNumber: 1 to 20 bytes; 16 random ones by default. Use none twice.
  /// - Returns: The identity of the new leaf.
  /// - Throws: ``SigningError`` with `invalid-value` or `crypto-failure`.
  public func issueLeaf(
    key: PrivateKey? = nil, serialNumber: [UInt8]? = nil
  ) throws(SigningError) -> SigningIdentity {
    var template = options.leafTemplate
    if let serialNumber { template.serialNumber = serialNumber }
    return try issueLeaf(template, key: key)
  }

  /// Issues whatever the template says, right or wrong.
  package func issueLeaf(
    _ template: CertificateTemplate, key: PrivateKey? = nil
  ) throws(SigningError) -> SigningIdentity {
    guard let issuer = intermediate.leaf else { throw SigningError(.emptyChain, "There is no intermediate.") }
    let key = if let key { key } else { try options.algorithm.generateKey() }
    // A leaf that outlives its issuer would promise what the chain does not keep.
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
  /// Creates a root, an intermediate and a leaf with new keys, of which only the leaf's is kept: an identity
  /// that is ready to sign. Its root, the last certificate of ``chain``, goes to verifiers.
  public static func create(_ options: CertificateAuthority.Options) throws(SigningError) -> SigningIdentity {
    try CertificateAuthority.create(options).issueLeaf()
  }
}
