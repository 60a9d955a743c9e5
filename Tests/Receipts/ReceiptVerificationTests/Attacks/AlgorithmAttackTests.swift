// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attack 3: a JWS that persuades the verifier to check less, or with another key.
@Suite struct AlgorithmAttackTests {
  /// n, the order of P-256 (FIPS 186-4 D.1.2.3).
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC,
    0xE6,
    0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  @Test(
    "any algorithm but ES256 is refused, however it is spelled",
    arguments: ["none", "None", "HS256", "ES384", "ES512", "RS256", "PS256", "es256", "ES256 ", ""])
  func otherAlgorithm(alg: String) throws {
    let receipt = try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"\(alg)\""))
    expectInvalid(
      try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "$.alg of the JWS header")
  }

  @Test("alg none without a signature is refused")
  func unsecured() throws {
    let receipt = ForgedJWS.joined(
      header: Array(#"{"alg":"none"}"#.utf8), payload: ForgedJWS.samplePayload, signature: [])
    expectInvalid(
      try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "$.alg of the JWS header")
  }

  @Test("HS256 keyed by the certificate or by its public key is refused")
  func hmacKeyedByCertificate() throws {
    let leaf = try Fixture.es256.identity.chain[0]
    let header = try ForgedJWS.header("\"alg\":\"HS256\"")
    let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(ForgedJWS.samplePayload)
    for key in [leaf.der, leaf.publicKey.subjectPublicKeyInfo] {
      let receipt = input + [UInt8(ascii: ".")] + Base64URL.encode(hmacSHA256(key: key, input))
      expectInvalid(
        try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "$.alg of the JWS header")
    }
  }

  @Test("an RSA leaf does not sign a JWS, whatever the header says")
  func rsaLeaf() throws {
    let rsa = try Fixture.rsa.identity
    let header = JWSHeader(x5c: rsa.chain.map(\.der)).encoded()
    let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(ForgedJWS.samplePayload)
    let signature = try rsa.privateKey.signature(for: input, using: .rsaPKCS1v15(.sha256))
    let receipt = input + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    expectInvalid(try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "certificate 0")
  }

  @Test("a P-384 leaf does not sign a JWS")
  func p384Leaf() throws {
    let es256 = try Fixture.es256
    let key = try PrivateKey.generateP384()
    let leaf = try es256.authority.issueLeaf(es256.authority.options.leafTemplate, key: key)
    let header = JWSHeader(x5c: leaf.chain.map(\.der)).encoded()
    let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(ForgedJWS.samplePayload)
    let signature = try key.signature(for: input, using: .ecdsa(.sha256))
    let receipt = input + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    expectInvalid(try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "certificate 0")
  }

  @Test("an elliptic-curve leaf does not sign app receipts or transaction receipts")
  func ellipticLeafInAppReceipt() throws {
    let es256 = try Fixture.es256.identity
    let signature = try es256.privateKey.signature(
      for: ForgedAppReceipt.sampleContent, using: .ecdsa(.sha256))
    let leaf = es256.chain[0]
    let receipt = CMSSignedData(
      content: ForgedAppReceipt.sampleContent[...], digestAlgorithm: ObjectIdentifiers.sha256,
      certificates: es256.chain.map { $0.der[...] }, issuer: leaf.issuerDER[...],
      serialNumber: leaf.serialNumber[...], signature: signature[...]
    ).encoded()
    expectInvalid(try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "certificate 0")
  }

  @Test("a signature encoded in DER is refused")
  func derSignature() throws {
    let identity = try Fixture.es256.identity
    let header = JWSHeader(x5c: identity.chain.map(\.der)).encoded()
    let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(ForgedJWS.samplePayload)
    let signature = try identity.privateKey.signature(for: input, using: .ecdsa(.sha256))
    let receipt = input + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    expectInvalid(try Fixture.verifier().verify(receipt), .signatureMismatch, at: "JWS signature")
  }

  @Test("signatures of another length than 64 bytes are refused", arguments: [1, 32, 63, 65, 66, 96, 128])
  func signatureLength(count: Int) throws {
    let receipt = try ForgedJWS.replacingSignature(of: Fixture.sample(.signedTransaction)) {
      Array(($0 + [UInt8](repeating: 0, count: 64)).prefix(count))
    }
    expectInvalid(try Fixture.verifier().verify(receipt), .signatureMismatch, at: "JWS signature")
  }

  @Test("a signature padded in front, or with r and s of 33 bytes, is refused")
  func paddedSignature() throws {
    let sample = try Fixture.sample(.signedTransaction)
    let padded = try ForgedJWS.replacingSignature(of: sample) { [0] + $0[..<32] + [0] + $0[32...] }
    expectInvalid(try Fixture.verifier().verify(padded), .signatureMismatch, at: "JWS signature")
  }

  @Test("r and s of zero, of n and beyond are refused")
  func signatureRange() throws {
    let sample = try Fixture.sample(.signedTransaction)
    let zero = [UInt8](repeating: 0, count: 32)
    let most = [UInt8](repeating: 0xFF, count: 32)
    for number in [zero, Self.order, most] {
      for change in [
        { (signature: [UInt8]) in number + signature[32...] },
        { (signature: [UInt8]) in signature[..<32] + number },
        { (_: [UInt8]) in number + number },
      ] {
        let receipt = try ForgedJWS.replacingSignature(of: sample, with: change)
        expectInvalid(try Fixture.verifier().verify(receipt), .signatureMismatch, at: "JWS signature")
      }
    }
  }

  @Test("an empty signature is no signature")
  func emptySignature() throws {
    let receipt = try ForgedJWS.replacingSignature(of: Fixture.sample(.signedTransaction)) { _ in [] }
    expectInvalid(try Fixture.verifier().verify(receipt), .unsigned)
    // Nor is it one when the signer is known already.
    let verifier = try Fixture.verifier()
    expectValid(verifier.verify(try Fixture.sample(.signedTransaction)))
    expectInvalid(verifier.verify(receipt), .unsigned)
  }

  @Test("a crit header is refused, whatever it names", arguments: ["[]", "[\"exp\"]", "[\"b64\"]"])
  func crit(value: String) throws {
    let receipt = try ForgedJWS.signed(
      header: ForgedJWS.header("\"alg\":\"ES256\",\"b64\":false,\"crit\":\(value)"))
    expectInvalid(try Fixture.verifier().verify(receipt), .malformed, at: "$.crit of the JWS header")
  }

  @Test("a header that names its algorithm or chain twice is refused")
  func duplicateHeaderKeys() throws {
    let twice = try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"none\",\"alg\":\"ES256\""))
    expectInvalid(try Fixture.verifier().verify(twice), .malformed, at: "$.alg")
    let chains = try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"ES256\",\"x5c\":[]"))
    expectInvalid(try Fixture.verifier().verify(chains), .malformed, at: "$.x5c")
  }

  @Test("a key in jwk, jku or x5u of the header is ignored")
  func ownKeyInHeader() throws {
    let forger = try PrivateKey.generateP256()
    let header = try ForgedJWS.header(
      #""alg":"ES256","jwk":{"kty":"EC"},"jku":"https://forger.example","x5u":"https://forger.example""#
    )
    let identity = SigningIdentity(uncheckedKey: forger, chain: try Fixture.es256.identity.chain)
    let receipt = try ForgedJWS.signed(header: header, by: identity)
    expectInvalid(try Fixture.verifier().verify(receipt), .signatureMismatch, at: "JWS signature")
  }

  @Test("certificates of a JWS chain that are signed with SHA-1 are refused")
  func sha1InChain() throws {
    let es256 = try Fixture.es256
    var template = es256.authority.options.leafTemplate
    template.digest = .sha1
    let identity = try es256.authority.issueLeaf(template, key: es256.identity.privateKey)
    let receipt = try Fixture.Container.jws.signed(by: identity)
    expectInvalid(try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "certificate 0")
  }

  private func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var block = key.count > 64 ? Digest.hash(key, using: .sha256) : key
    block += [UInt8](repeating: 0, count: 64 - block.count)
    let inner = Digest.hash(block.map { $0 ^ 0x36 } + message, using: .sha256)
    return Digest.hash(block.map { $0 ^ 0x5C } + inner, using: .sha256)
  }
}
