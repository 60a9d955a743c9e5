// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

@Suite struct FixedKeyVerifierTests {
  @Test func `tables are to be had here, as in every OpenSSL 3 for common processors`() {
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
    #expect(!other.isValid(sample))
    #expect(other.validities([sample, sample]) == [false, false])
    #expect(try #require(FixedKeyVerifier(key.publicKey)).isValid(sample))
  }
}

@Suite(
  .enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"),
  .enabled(if: SharedData.has("vectors/wycheproof"), "published vectors are not beside the package"))
struct FixedKeyWycheproofTests {
  /// The signatures of `name` that are 64 bytes, or are strict DER of numbers that fit; of the others none is
  /// valid.
  @Test(arguments: ["ecdsa_secp256r1_sha256_p1363_test.json", "ecdsa_secp256r1_sha256_test.json"])
  func `every P-256 vector has the result that it says, alone and together`(name: String) throws {
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
            #expect(!verifier.isValid(encoded, forDigest: [UInt8](repeating: 0, count: 32)))
          }
          continue
        }
        let message = bytes(hex: test.msg)
        let digest = Digest.hash(message, using: .sha256)
        let single = verifier.isValid(signature, forDigest: digest)
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
        verifier.validities(signatures: signatures, digests: digests, count: count) == expected)
      let backwards = (0..<count).reversed()
      let answers = verifier.validities(
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
