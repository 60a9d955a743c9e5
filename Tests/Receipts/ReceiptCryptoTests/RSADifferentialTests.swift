// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

/// RSA as stores with a key per app use it, compared with OpenSSL's own high-level call.
@Suite struct RSADifferentialTests {
  private static let algorithms: [(SignatureAlgorithm, isPSS: Bool)] = [
    (.rsaPKCS1v15(.sha1), false), (.rsaPKCS1v15(.sha256), false), (.rsaPSS(.sha256), true),
  ]

  @Test func `every verdict is OpenSSL's, on genuine and damaged signatures`() throws {
    let key = try PrivateKey.generateRSA()
    let message = Random.bytes(500)
    for (signing, _) in Self.algorithms {
      let signature = try key.signature(for: message, using: signing)
      #expect(signature.count == 256)
      var candidates: [[UInt8]] = [
        signature, [], Array(signature.dropLast()), signature + [0], [0] + signature,
      ]
      for index in stride(from: 0, to: signature.count, by: 7) {
        var damaged = signature
        damaged[index] ^= 1 << UInt8(index % 8)
        candidates.append(damaged)
      }
      candidates.append([UInt8](repeating: 0xFF, count: 256))
      candidates.append([UInt8](repeating: 0, count: 256))
      for (algorithm, isPSS) in Self.algorithms {
        for candidate in candidates {
          let ours = try key.publicKey.isValidSignature(candidate, for: message, using: algorithm)
          let reference = SignatureReference.isValidSignature(
            candidate, for: message, digest: algorithm.digestAlgorithm, key: key.publicKey, isPSS: isPSS)
          #expect(ours == reference)
          #expect(ours == (candidate == signature && algorithm == signing))
        }
      }
      #expect(try !key.publicKey.isValidSignature(signature, for: message + [0], using: signing))
    }
  }

  @Test func `a salt of another length than the digest's is refused`() throws {
    // Made by: openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20
    let key = try PublicKey(inFile: Array(Self.key.utf8))
    let message = Array("salt".utf8)
    let short = try #require(Self.bytes(Self.saltOf20))
    let right = try #require(Self.bytes(Self.saltOf32))
    #expect(try key.isValidSignature(right, for: message, using: .rsaPSS(.sha256)))
    #expect(try !key.isValidSignature(short, for: message, using: .rsaPSS(.sha256)))
  }

  @Test func `the digest in a signature is found, and nothing in another`() throws {
    let key = try PrivateKey.generateRSA()
    let message = Random.bytes(100)
    for digest in [DigestAlgorithm.sha1, .sha256] {
      let signature = try key.signature(for: message, using: .rsaPKCS1v15(digest))
      #expect(key.publicKey.digest(in: signature[...], of: digest) == Digest.hash(message, using: digest))
      let other: DigestAlgorithm = digest == .sha1 ? .sha256 : .sha1
      #expect(key.publicKey.digest(in: signature[...], of: other) == nil)
      #expect(try PrivateKey.generateRSA().publicKey.digest(in: signature[...], of: digest) == nil)
      #expect(key.publicKey.digest(in: signature.dropLast(), of: digest) == nil)
      #expect(key.publicKey.digest(in: [], of: digest) == nil)
    }
    let pss = try key.signature(for: message, using: .rsaPSS(.sha256))
    #expect(key.publicKey.digest(in: pss[...], of: .sha256) == nil)
    #expect(try PrivateKey.generateP256().publicKey.digest(in: pss[...], of: .sha256) == nil)
  }

  @Test func `a public key is read in base64, PEM and DER`() throws {
    let key = try PrivateKey.generateRSA().publicKey
    let base64 = key.pem.split(separator: "\n").dropFirst().dropLast().joined()
    for contents in [
      key.subjectPublicKeyInfo, Array(key.pem.utf8), Array(base64.utf8), Array(" \(base64)\r\n".utf8),
      Array("text before\n\(key.pem)".utf8), Array("\u{FEFF}\(base64)".utf8),
      Array("\u{FEFF}\(key.pem)".utf8),
    ] {
      #expect(try PublicKey(inFile: contents) == key)
    }
    for contents in [
      [], Array("key".utf8), Array(base64.dropLast().utf8), Array(key.subjectPublicKeyInfo.dropLast()),
      Array(key.pem.dropLast(40).utf8), Array("AAAA".utf8),
    ] as [[UInt8]] {
      #expect(throws: CryptoError.self) { try PublicKey(inFile: contents) }
    }
  }

  private static func bytes(_ hexadecimal: String) -> [UInt8]? {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).reduce(into: [UInt8]?.some([])) { bytes, index in
      guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return bytes = nil }
      bytes?.append(byte)
    }
  }

  private static let key =
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA6t8Lxjy7OElxEV3HKxUKnxEsGysQFoHKTArWtGkRDRABYe"
    + "AjJj/rvRgD8njI8miokvE7sdsFopcNymRV8xMtEqeiztaoKtAqieM9efJZudU98CBMUSeQt8gFatJhYYVDBdr8fKmV"
    + "Uyok2BErOYeT4hiLGrduZ1cwwy53NW/rnDaExwR8PWYpI6WwK/+njocp9jb086cPR9ZIhpn9CjHyPOXp4of0OQzDWl"
    + "LUv8N/5SkwGAJVrzMxeJxigTFo3ZIt1LuR+3D7qKZJzuH62BndWNtq50MGGns12c6qWT4IDLc1pFN1AbgnwLaN4GpT"
    + "rihSuzzxaVq1rKdtlIRkdli2GQIDAQAB"

  private static let saltOf20 =
    "3299f252769d7c996444ea58283eece7edd966d47024e0e1d6a518026e813473a8586ac3680a0eca1aa1bc3cfb"
    + "72f46b6914ce3372c9a68f86d0ebfa49cb63f9c8e6af7f64b416a52432048c763bf73253db493e8de89d07a37c"
    + "6c09e0fee90d5346d23d93c5e259ef8550dd806bfeb36593bf78048aa69a2ca9e03a205c77a0ae9f2d94d3676d"
    + "d728ef98e5490cd520aacd8d3f1e3dfebd11a372ed265557c6f0477f104596576378d5a6cbdbbae7151ab99f35"
    + "82b78fe9f759f845e58bc342831719527287249d85e0164c69dd6640177932c388dc95a9b3332c917fff03b0d8"
    + "225801a8dfef5d4b793d42297d82c95c422dedfa20775b1879dd583fc21499"

  private static let saltOf32 =
    "182fc3a083f6afcc9f2024a1b83c33ea4e6a67b6c9c9638ebeb2d67465681e0fe0a1bb11d385b9475e39078d15"
    + "e2cce4946aac879bcbff44f38613c6e4dd0c2176c31e0066dc9fd16fd3e108ed0187a728997a7c1857e317efbb"
    + "6d6b63b0c381a9a6237fa4d1f83b3c84921d93316dbceb2739f2c9094c570295204b1ed3fcadad0255f8bfda96"
    + "44de4f580dedf536bf8317eade7fb8ffec437b4ff931fab7dc74dbb911a41b1cf4b62aedacbf46a0d80562fd53"
    + "e25af3d3e641e781b736ff07e8534d8c58ab8beeaa8df8973a34acfcca7f81dce917d78af6dd63fe437929bb99"
    + "73ba49cd7c3a5ea8e051d28b86ff01300ad709c123ec6d4e0a3494e9472d1e"
}
