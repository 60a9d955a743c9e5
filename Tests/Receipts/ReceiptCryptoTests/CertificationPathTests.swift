// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct CertificationPathTests {
  /// `X509_V_ERR_…` of OpenSSL.
  static let unableToGetIssuer = 20
  static let invalidCA = 79
  static let pathLengthExceeded = 25
  static let unhandledCriticalExtension = 34
  static let chainTooLong = 22
  static let noExplicitPolicy = 43

  static func failure(
    _ chain: TestChain, anchor: Certificate? = nil, at instant: Int64? = TestChain.instant
  ) throws(CryptoError) -> CertificationPath.Failure? {
    try CertificationPath.failure(
      leaf: chain.leaf, intermediates: [chain.intermediate], anchor: anchor ?? chain.root, at: instant)
  }

  @Test func `a root, an intermediate and a leaf form a valid path`() throws {
    let chain = try TestChain()
    #expect(try Self.failure(chain) == nil)
    #expect(try Self.failure(chain, at: nil) == nil)
  }

  @Test func `old chains with SHA-1 and RSA of 1024 bits are accepted`() throws {
    let chain = try TestChain(
      key: { try PrivateKey.generateRSA(bits: 1024) }, root: { $0.digest = .sha1 },
      intermediate: { $0.digest = .sha1 }, leaf: { $0.digest = .sha1 })
    #expect(try Self.failure(chain) == nil)
  }

  @Test func `the first and the last second are valid, those beyond are not`() throws {
    let chain = try TestChain(leaf: { ($0.notBefore, $0.notAfter) = (1_650_000_000, 1_750_000_000) })
    #expect(try Self.failure(chain, at: 1_650_000_000) == nil)
    #expect(try Self.failure(chain, at: 1_750_000_000) == nil)
    let early = try Self.failure(chain, at: 1_649_999_999)
    #expect(early?.errorCode == CertificationPath.Failure.notYetValid)
    #expect(early?.depth == 0)
    let late = try Self.failure(chain, at: 1_750_000_001)
    #expect(late?.errorCode == CertificationPath.Failure.expired)
    #expect(late?.depth == 0)
    #expect(try Self.failure(chain, at: nil) == nil)
    let root = try Self.failure(chain, at: TestChain.notAfter + 1)
    #expect(root?.errorCode == CertificationPath.Failure.expired)
  }

  @Test func `another root with the same name is not an anchor`() throws {
    let chain = try TestChain()
    let impostor = try TestChain()
    #expect(impostor.root.subjectDER == chain.root.subjectDER)
    #expect(try Self.failure(chain, anchor: impostor.root) != nil)
    let mixed = try CertificationPath.failure(
      leaf: chain.leaf, intermediates: [impostor.intermediate], anchor: impostor.root, at: nil)
    #expect(mixed != nil)
  }

  @Test func `a signature by another key with the right name is detected`() throws {
    // Without key identifiers, nothing but the signature tells the two roots apart.
    let chain = try TestChain(
      root: { $0.includesKeyIdentifiers = false }, intermediate: { $0.includesKeyIdentifiers = false },
      leaf: { $0.includesKeyIdentifiers = false })
    let impostor = try TestChain(
      root: { $0.includesKeyIdentifiers = false }, intermediate: { $0.includesKeyIdentifiers = false },
      leaf: { $0.includesKeyIdentifiers = false })
    let failure = try Self.failure(impostor, anchor: chain.root)
    #expect(failure?.errorCode == CertificationPath.Failure.badSignature)
    #expect(failure?.depth == 1)
    #expect(!impostor.intermediate.isSigned(by: chain.root))
    #expect(impostor.intermediate.isSigned(by: impostor.root))
  }

  @Test func `an intermediate that is not an authority cannot issue certificates`() throws {
    for constraints in [CertificateTemplate.BasicConstraints.endEntity, .absent] {
      let chain = try TestChain(intermediate: { $0.basicConstraints = constraints })
      let failure = try Self.failure(chain)
      #expect(failure?.errorCode == Self.invalidCA)
      #expect(failure?.depth == 1)
    }
  }

  @Test func `an intermediate without keyCertSign cannot issue certificates`() throws {
    let chain = try TestChain(intermediate: { $0.keyUsage = .digitalSignature })
    #expect(try Self.failure(chain)?.errorCode == Self.invalidCA)
  }

  @Test func `a path length is not exceeded`() throws {
    let chain = try TestChain(root: { $0.basicConstraints = .certificateAuthority(pathLength: 0) })
    let failure = try Self.failure(chain)
    #expect(failure?.errorCode == Self.pathLengthExceeded)
    #expect(failure?.depth == 2)
  }

  @Test func `an unknown critical extension is refused`() throws {
    let chain = try TestChain(leaf: {
      $0.additionalExtensions = [.init(oid: "1.2.3.4", isCritical: true, value: [5, 0])]
    })
    let failure = try Self.failure(chain)
    #expect(failure?.errorCode == Self.unhandledCriticalExtension)
    #expect(failure?.depth == 0)
  }

  @Test func `a policy that an issuer demands must be in the path`() throws {
    // policyConstraints with requireExplicitPolicy 0 (RFC 5280 section 4.2.1.11), and certificatePolicies with 1.2.3.4.
    let demanding = Certificate.Extension(oid: "2.5.29.36", isCritical: true, value: [0x30, 3, 0x80, 1, 0])
    let policies = Certificate.Extension(
      oid: "2.5.29.32", isCritical: false, value: [0x30, 7, 0x30, 5, 6, 3, 0x2A, 3, 4])
    let without = try TestChain(intermediate: { $0.additionalExtensions = [demanding] })
    #expect(try Self.failure(without)?.errorCode == Self.noExplicitPolicy)
    let with = try TestChain(
      intermediate: { $0.additionalExtensions = [demanding, policies] },
      leaf: { $0.additionalExtensions = [policies] })
    #expect(try Self.failure(with) == nil)
    #expect(try Self.failure(TestChain(leaf: { $0.additionalExtensions = [policies] })) == nil)
  }

  @Test func `without its intermediate a leaf has no path`() throws {
    let chain = try TestChain()
    let failure = try CertificationPath.failure(
      leaf: chain.leaf, intermediates: [], anchor: chain.root, at: TestChain.instant)
    #expect(failure?.errorCode == Self.unableToGetIssuer)
    #expect(failure?.depth == 0)
  }

  @Test func `an unneeded certificate is refused`() throws {
    let chain = try TestChain()
    let other = try TestChain()
    for intermediates in [
      [chain.intermediate, other.intermediate], [other.intermediate, chain.intermediate],
      [chain.intermediate, chain.root],
    ] {
      let failure = try CertificationPath.failure(
        leaf: chain.leaf, intermediates: intermediates, anchor: chain.root, at: TestChain.instant)
      #expect(failure?.errorCode == CertificationPath.Failure.unspecified)
    }
    let many = [Certificate](repeating: chain.intermediate, count: 9)
    let failure = try CertificationPath.failure(
      leaf: chain.leaf, intermediates: many, anchor: chain.root, at: TestChain.instant)
    #expect(failure?.errorCode == Self.chainTooLong)
  }

  @Test func `intermediates are tried in the given order`() throws {
    let chain = try TestChain(intermediate: { $0.basicConstraints = .certificateAuthority(pathLength: 1) })
    let key = try PrivateKey.generateP256()
    var template = TestChain.template("Test Lower Intermediate")
    template.basicConstraints = .certificateAuthority(pathLength: 0)
    template.keyUsage = [.keyCertSign, .cRLSign]
    let lower = try Certificate.issue(
      template, for: key.publicKey, by: .authority(chain.intermediate, chain.intermediateKey))
    let leaf = try Certificate.issue(
      TestChain.template("Test Leaf"), for: chain.leafKey.publicKey, by: .authority(lower, key))
    func failure(_ intermediates: [Certificate]) throws(CryptoError) -> CertificationPath.Failure? {
      try CertificationPath.failure(
        leaf: leaf, intermediates: intermediates, anchor: chain.root, at: TestChain.instant)
    }
    #expect(try failure([lower, chain.intermediate]) == nil)
    // OpenSSL itself takes them in any order.
    let swapped = try failure([chain.intermediate, lower])
    #expect(swapped?.errorCode == CertificationPath.Failure.unspecified)
    #expect(swapped?.depth == 1)
  }

  @Test func `an unsupported key is refused in a path`() throws {
    let chain = try TestChain()
    let leaf = try Certificate.issue(
      TestChain.template("Test Leaf"), for: try PublicKey(pem: KeyFixtures.ed25519PublicKey),
      by: .authority(chain.intermediate, chain.intermediateKey))
    let failure = try CertificationPath.failure(
      leaf: leaf, intermediates: [chain.intermediate], anchor: chain.root, at: TestChain.instant)
    #expect(failure?.errorCode == CertificationPath.Failure.unspecified)
    #expect(failure?.depth == 0)
  }

  @Test func `a self-signed leaf is a valid path only if it is the anchor`() throws {
    let chain = try TestChain()
    func failure(anchor: Certificate) throws(CryptoError) -> CertificationPath.Failure? {
      try CertificationPath.failure(
        leaf: chain.root, intermediates: [], anchor: anchor, at: TestChain.instant)
    }
    #expect(try failure(anchor: chain.root) == nil)
    #expect(try failure(anchor: try TestChain().root) != nil)

    // Xcode's is such a certificate, and need not be an authority.
    let key = try PrivateKey.generateP256()
    let leaf = try Certificate.issue(
      TestChain.template("Alone"), for: key.publicKey, by: .itself(key))
    #expect(
      try CertificationPath.failure(leaf: leaf, intermediates: [], anchor: leaf, at: TestChain.instant) == nil
    )
  }

  @Test func `an intermediate may be the anchor`() throws {
    let chain = try TestChain()
    let failure = try CertificationPath.failure(
      leaf: chain.leaf, intermediates: [], anchor: chain.intermediate, at: TestChain.instant)
    #expect(failure == nil)
  }

  @Test func `a genuine root above a forged intermediate does not help`() throws {
    // The attack of verifiers that look only for the root's presence.
    let genuine = try TestChain()
    let forged = try TestChain()
    let failure = try CertificationPath.failure(
      leaf: forged.leaf, intermediates: [forged.intermediate], anchor: genuine.root, at: nil)
    #expect(failure != nil)
  }

  @Test func `many tasks validate one path at once`() async throws {
    let chain = try TestChain()
    let failures = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<16 {
        group.addTask {
          (0..<10).count(where: { _ in
            (try? Self.failure(chain)) != .some(nil) || !chain.leaf.isSigned(by: chain.intermediate)
              || chain.leaf.publicKey.kind != .p256
          })
        }
      }
      return await group.reduce(0, +)
    }
    #expect(failures == 0)
  }
}
