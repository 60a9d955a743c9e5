// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

@Suite struct FixedKeyVerifierTests {
  @Test func `tables are available here, as in every OpenSSL 3 for common processors`() {
    #if arch(x86_64) || arch(arm64)
      #expect(FixedKeyVerifier.isAvailable)
    #endif
  }

  @Test(.enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"))
  func `a table is made for a P-256 key only, however its point is written`() throws {
    for pem in [KeyFixtures.publicKey, KeyFixtures.compressedPublicKey] {
      let verifier = try #require(FixedKeyVerifier(try PublicKey(pem: pem)))
      #expect((151_552...200_000).contains(verifier.byteCount))
    }
    for pem in [KeyFixtures.explicitPublicKey, KeyFixtures.ed25519PublicKey, KeyFixtures.hybridPublicKey] {
      guard let key = try? PublicKey(pem: pem) else { continue }
      #expect(FixedKeyVerifier(key) == nil)
    }
    #expect(FixedKeyVerifier(try PrivateKey.generateP384().publicKey) == nil)
    #expect(FixedKeyVerifier(try PrivateKey.generateRSA().publicKey) == nil)
  }

  @Test(.enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"))
  func `another key's signatures are refused`() throws {
    var generator = SystemRandomNumberGenerator()
    let key = try PrivateKey.generateP256()
    let sample = try FixedKeySample(signedBy: key, changed: .nothing, using: &generator)
    let other = try #require(FixedKeyVerifier(try PrivateKey.generateP256().publicKey))
    #expect(try !other.isValid(sample))
    #expect(try other.validities([sample, sample]) == [false, false])
    #expect(try #require(FixedKeyVerifier(key.publicKey)).isValid(sample))
  }
}

extension FixedKeyVerifierTests {
  /// Signatures (r, s) of SHA-256("x(R) = 0") whose point R has an x coordinate of its own choosing: the key is
  /// computed from them, Q = (s·R − e·G) / r.
  @Test(
    .enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"),
    arguments: [
      // x(R) = 0 and r = p − n: r + n is p, which is not less than p and so is no coordinate.
      (
        "39e8020a2713706bd5a03bd7695085f44822be23cf3f0d7d7e9cf43f3c0b1f67"
          + "94e2fbe9eb1833ff93a78241a5de12610a26f0bc58148e8799cf113a946bfdc5",
        "000000000000000000000000000000004319055358e8617b0c46353d039cdaae", false
      ),
      // x(R) = n + 3 and r = 3: the coordinate is reduced modulo n.
      (
        "4aa56eef01636420bf4a8f2ae3d633f19eeb145b003f3e41086cdeb71ee0918b"
          + "feff086897b70edc5298cfdd855dd72db34209cce316f0d4f6fd39551c06aeaa",
        "0000000000000000000000000000000000000000000000000000000000000003", true
      ),
    ])
  func `a coordinate is reduced modulo n only below p`(point: String, r: String, isValid: Bool) throws {
    let prefix = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"
    let key = try PublicKey(subjectPublicKeyInfo: bytes(hex: prefix + point))
    let verifier = try #require(FixedKeyVerifier(key))
    let signature = bytes(hex: r + "000000000000000000000000000000000000000000000000ab54a98ceb1f0ad2")
    let digest = Digest.hash(Array("x(R) = 0".utf8), using: .sha256)
    #expect(try verifier.isValid(signature, forDigest: digest) == isValid)
    #expect(
      try key.isValidSignature(signature, for: Array("x(R) = 0".utf8), using: .ecdsaP256SHA256) == isValid)
  }
}

@Suite(
  .enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"),
  .enabled(if: SharedData.has("vectors/wycheproof"), "published vectors are not beside the package"))
struct FixedKeyWycheproofTests {
  /// The signatures of `name` that are 64 bytes, or are strict DER of numbers that fit; of the others none is
  /// valid.
  @Test(arguments: ["ecdsa_secp256r1_sha256_p1363_test.json", "ecdsa_secp256r1_sha256_test.json"])
  func `every P-256 vector has its stated result, alone and in batches`(name: String) throws {
    let isDER = !name.contains("p1363")
    let data = Data(try SharedData.bytes("vectors/wycheproof/\(name)"))
    var compared = 0
    for group in try JSONDecoder().decode(WycheproofTests.File.self, from: data).testGroups {
      let key = try PublicKey(subjectPublicKeyInfo: bytes(hex: group.publicKeyDer))
      let verifier = try #require(FixedKeyVerifier(key))
      var signatures: [UInt8] = []
      var digests: [UInt8] = []
      var expected: [Bool] = []
      for test in group.tests {
        let isValid = test.result == "valid"
        let encoded = bytes(hex: test.sig)
        guard let signature = isDER ? Self.rawSignature(der: encoded) : encoded, signature.count == 64 else {
          #expect(!isValid, "\(name) \(test.tcId): \(test.comment)")
          if !isDER {
            #expect(try !verifier.isValid(encoded, forDigest: [UInt8](repeating: 0, count: 32)))
          }
          continue
        }
        let message = bytes(hex: test.msg)
        let digest = Digest.hash(message, using: .sha256)
        let single = try verifier.isValid(signature, forDigest: digest)
        #expect(single == isValid, "\(name) \(test.tcId): \(test.comment)")
        if isDER {
          let reference = SignatureReference.isValidSignature(
            encoded, for: message, digest: .sha256, key: key)
          #expect(reference == single, "\(name) \(test.tcId): \(test.comment)")
        }
        signatures += signature
        digests += digest
        expected.append(isValid)
      }
      // In the order of the file and backwards, so that each stands elsewhere in its batch.
      let count = expected.count
      #expect(
        try verifier.validities(signatures: signatures, digests: digests, count: count) == expected)
      let backwards = (0..<count).reversed()
      let answers = try verifier.validities(
        signatures: backwards.flatMap { signatures[$0 * 64..<$0 * 64 + 64] },
        digests: backwards.flatMap { digests[$0 * 32..<$0 * 32 + 32] }, count: count)
      #expect(answers == expected.reversed())
      compared += count
    }
    #expect(compared > 200)
  }

  /// r ‖ s of a strict DER Ecdsa-Sig-Value whose numbers fit 32 bytes each.
  private static func rawSignature(der: [UInt8]) -> [UInt8]? {
    guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { return nil }
    var rest = der[2...]
    var signature: [UInt8] = []
    for _ in 0..<2 {
      guard rest.count >= 2, rest.removeFirst() == 0x02 else { return nil }
      let length = Int(rest.removeFirst())
      guard (1...33).contains(length), length <= rest.count else { return nil }
      var content = rest.prefix(length)
      rest = rest.dropFirst(length)
      if content.count > 1, content.first == 0 {
        content = content.dropFirst()
        guard let first = content.first, first >= 0x80 else { return nil }
      } else if let first = content.first, first >= 0x80 {
        return nil
      }
      guard content.count <= 32 else { return nil }
      signature += [UInt8](repeating: 0, count: 32 - content.count) + content
    }
    return rest.isEmpty ? signature : nil
  }
}
