// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
public import ReceiptCrypto
public import ReceiptSigning
public import ReceiptVerification

/// An authority for tests, with fixed keys and dates compiled in. Its receipts verify on every machine and never
/// expire. Trust it only in tests, because its keys are published.
///
/// ```swift
/// let authority = try TestAuthority.es256()
/// let receipt = try JWSSigner(identity: authority.identity).sign(.transaction(SampleReceipts.transaction))
/// let verifier = ReceiptVerifier(
///   trust: authority.trustAnchors,
///   policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox]))
/// ```
public struct TestAuthority: Sendable {
  /// The beginning of all certificates' validity: 2020-01-01T00:00:00Z.
  package static let validFrom = Timestamp(secondsSince1970: 1_577_836_800)
  /// The validity of leaves in days, to the end of 2049. Intermediate and root are valid for longer.
  package static let leafDays = 10_957

  /// The root and the intermediate.
  package let authority: CertificateAuthority
  /// The identity without flaws, with the chain leaf, intermediate, root.
  public let identity: SigningIdentity

  let keys: Keys

  /// The authority with P-256 keys, for signed JWS.
  public static func es256() throws(SigningError) -> TestAuthority { try cachedES256.get() }

  /// The authority with RSA keys of 2048 bits, for app receipts and transaction receipts.
  public static func rsa() throws(SigningError) -> TestAuthority { try cachedRSA.get() }

  private static let cachedES256 = Result { () throws(SigningError) in
    try TestAuthority(
      .es256, root: TestCertificates.es256,
      keys: Keys(
        root: TestKeys.key(ES256TestKeys.root), intermediate: TestKeys.key(ES256TestKeys.intermediate),
        leaf: TestKeys.key(ES256TestKeys.leaf), foreign: TestKeys.key(ES256TestKeys.foreign)))
  }

  private static let cachedRSA = Result { () throws(SigningError) in
    try TestAuthority(
      .rsa2048, root: TestCertificates.rsa,
      keys: Keys(
        root: TestKeys.key(RSATestKeys.root), intermediate: TestKeys.key(RSATestKeys.intermediate),
        leaf: TestKeys.key(RSATestKeys.leaf), foreign: TestKeys.key(RSATestKeys.foreign)))
  }

  private init(
    _ algorithm: CertificateAuthority.Algorithm, root: String, keys: Keys
  ) throws(SigningError) {
    let options = Self.options(algorithm)
    self.keys = keys
    self.authority = try CertificateAuthority.create(
      options, root: TestKeys.certificate(root), rootKey: keys.root, intermediateKey: keys.intermediate)
    self.identity = try authority.issueLeaf(key: keys.leaf, serialNumber: [0x03])
  }

  static func options(_ algorithm: CertificateAuthority.Algorithm) -> CertificateAuthority.Options {
    var options = CertificateAuthority.Options(
      organization: "ReceiptKit Test", algorithm: algorithm, start: validFrom, days: leafDays)
    let suffix = algorithm == .es256 ? "ES256" : "RSA"
    options.rootName = "ReceiptKit Test Root CA \(suffix)"
    options.intermediateName = "ReceiptKit Test Intermediate CA \(suffix)"
    options.leafName = "ReceiptKit Test Receipt Signing \(suffix)"
    options.rootSerialNumber = [0x01]
    options.intermediateSerialNumber = [0x02]
    return options
  }

  /// The root, which is the trust anchor of tests.
  public var root: Certificate { authority.root }

  /// The intermediate, which verifiers of transaction receipts need.
  package var intermediate: Certificate { identity.chain[1] }

  /// Trust anchors that contain only the root.
  public var trustAnchors: TrustAnchors { TrustAnchors(certificates: [root]) }
}

/// Signs JWS as Xcode's local testing does, with one self-signed certificate and with `kid` and `typ` in the header.
/// Such data does not prove a purchase. A verifier refuses it unless its policy pins ``certificate``.
package struct SelfSignedTestData: Sendable {
  /// The self-signed certificate, which a policy can pin.
  package let certificate: Certificate

  private let signer: JWSSigner

  /// Creates a signer with a fixed test key and certificate.
  package init() throws(SigningError) {
    let key = try TestKeys.key(ES256TestKeys.selfSigned)
    let certificate = try TestKeys.certificate(TestCertificates.selfSigned)
    let identity = try SigningIdentity(privateKey: key, chain: [certificate])
    let header = JWSHeader(x5c: [certificate.der], kid: "Apple_Xcode_Key", typ: "JWT")
    self.certificate = certificate
    self.signer = JWSSigner(unchecked: identity, header: header.encoded())
  }

  /// Signs a payload.
  package func sign(_ payload: JWSPayload) throws(SigningError) -> String { try signer.sign(payload) }
}

/// TEST KEYS: they are compiled in and published, so they protect nothing. They give test receipts and vectors the
/// same certificates on every machine. Never trust them outside a test.
package enum TestKeys {
  /// The private key of ``TestAuthority/identity`` of ``TestAuthority/es256()``, in PEM.
  package static let signerPEM = ES256TestKeys.leaf

  /// A key in place of one from App Store Connect, for tests of developer signatures.
  package static func developer() throws(SigningError) -> PrivateKey { try key(ES256TestKeys.developer) }

  /// The key that signs the purchases of `com.example.app` at Google Play and Huawei: see ``TestReceipts``.
  package static func app() throws(SigningError) -> PrivateKey { try key(RSATestKeys.app) }

  /// An RSA key that is not the key of any certificate of the test authority.
  package static func otherRSA() throws(SigningError) -> PrivateKey { try key(RSATestKeys.foreign) }

  static func key(_ pem: String) throws(SigningError) -> PrivateKey {
    try SigningIdentity.privateKey(inFile: Array(pem.utf8))
  }

  static func certificate(_ pem: String) throws(SigningError) -> Certificate {
    do throws(CryptoError) {
      if let first = try Certificate.certificates(in: Array(pem.utf8)).first { return first }
    } catch {
      throw SigningError(error)
    }
    throw SigningError(.malformedCertificate, "The compiled-in certificate is missing.")
  }
}
