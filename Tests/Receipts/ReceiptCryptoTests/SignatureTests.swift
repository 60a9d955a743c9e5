// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct SignatureTests {
  /// The order of P-256 (SEC 2 section 2.4.2).
  static let order = bytes(hex: "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")

  static let algorithms: [SignatureAlgorithm] = [
    .ecdsaP256SHA256, .ecdsa(.sha1), .ecdsa(.sha256), .ecdsa(.sha384), .ecdsa(.sha512),
  ]

  @Test(arguments: algorithms)
  func `a signature by a P-256 key verifies with its public key only`(algorithm: SignatureAlgorithm) throws {
    let key = try PrivateKey.generateP256()
    let message = Random.bytes(100)
    let signature = try key.signature(for: message, using: algorithm)
    #expect(try key.publicKey.isValidSignature(signature, for: message, using: algorithm))
    #expect(try !key.publicKey.isValidSignature(signature, for: message + [0], using: algorithm))
    let other = try PrivateKey.generateP256().publicKey
    #expect(try !other.isValidSignature(signature, for: message, using: algorithm))
    for wrong in Self.algorithms where wrong != algorithm {
      #expect(try !key.publicKey.isValidSignature(signature, for: message, using: wrong))
    }
  }

  @Test func `P-384 and RSA signatures verify`() throws {
    let message = Random.bytes(1000)
    let p384 = try PrivateKey.generateP384()
    #expect(p384.publicKey.kind == .p384)
    let rsa = try PrivateKey.generateRSA()
    #expect(rsa.publicKey.kind == .rsa(bits: 2048))
    for digest in DigestAlgorithm.allCases {
      let ecdsa = try p384.signature(for: message, using: .ecdsa(digest))
      #expect(try p384.publicKey.isValidSignature(ecdsa, for: message, using: .ecdsa(digest)))
      let pkcs1 = try rsa.signature(for: message, using: .rsaPKCS1v15(digest))
      #expect(pkcs1.count == 256)
      #expect(try rsa.publicKey.isValidSignature(pkcs1, for: message, using: .rsaPKCS1v15(digest)))
      #expect(try !p384.publicKey.isValidSignature(pkcs1, for: message, using: .rsaPKCS1v15(digest)))
      #expect(try !rsa.publicKey.isValidSignature(ecdsa, for: message, using: .ecdsa(digest)))
    }
  }

  @Test func `a raw signature has exactly 64 bytes`() throws {
    let key = try PrivateKey.generateP256()
    let message: [UInt8] = [1, 2, 3]
    let signature = try key.signature(for: message, using: .ecdsaP256SHA256)
    #expect(signature.count == 64)
    for length in 0..<64 {
      let short = Array(signature[..<length])
      #expect(try !key.publicKey.isValidSignature(short, for: message, using: .ecdsaP256SHA256))
    }
    for extra in [signature + [0], [0] + signature, [0] + signature[..<32] + [0] + signature[32...]] {
      #expect(try !key.publicKey.isValidSignature(extra, for: message, using: .ecdsaP256SHA256))
    }
  }

  @Test func `a raw signature is always of P-256, even if its numbers fit another curve`() throws {
    // Of P-384, constructed: x(R) = r = 3, s = 7, and the key Q = (s·R − e·G) / r.
    let point =
      "fbcf619588ba7a07a2a72a473644f9692450034d65adbbafec3d0a6b1f3320268b6a48e78b76ffd2de3224cc33fb38a3"
      + "c95fd79d672f29249fd3baf0cf76ee262ff53d738b6be1536b36ebb27967ff2bbe5c7c6054acaef21bd836c3efc50f96"
    let prefix = "3076301006072a8648ce3d020106052b8104002203620004"
    let key = try PublicKey(subjectPublicKeyInfo: bytes(hex: prefix + point))
    #expect(key.kind == .p384)
    let message = Array("32 bytes suffice".utf8)
    #expect(try key.isValidSignature(bytes(hex: "3006020103020107"), for: message, using: .ecdsa(.sha256)))
    let zeros = [UInt8](repeating: 0, count: 31)
    let signature = zeros + [3] + zeros + [7]
    #expect(try !key.isValidSignature(signature, for: message, using: .ecdsaP256SHA256))
  }

  @Test func `a digest must have the length of its algorithm`() throws {
    // OpenSSL cuts what is longer than the order of the curve.
    let key = try PrivateKey.generateP256()
    let message: [UInt8] = [1, 2, 3]
    let digest = Digest.hash(message, using: .sha256)
    for algorithm in [SignatureAlgorithm.ecdsaP256SHA256, .ecdsa(.sha256)] {
      let signature = try key.signature(for: message, using: algorithm)
      for (given, isRight) in [(digest, true), (digest + [0], false), (Array(digest.dropLast()), false)] {
        let isValid = try key.publicKey.isValidSignature(
          signature.span, forDigest: given.span, using: algorithm)
        #expect(isValid == isRight)
      }
    }
  }

  @Test func `r and s lie between 1 and the order less 1`() throws {
    let key = try PrivateKey.generateP256()
    let message: [UInt8] = [1, 2, 3]
    let signature = try key.signature(for: message, using: .ecdsaP256SHA256)
    let zero = [UInt8](repeating: 0, count: 32)
    let greatest = [UInt8](repeating: 0xFF, count: 32)
    let r = Array(signature[..<32])
    let s = Array(signature[32...])
    for bad in [zero, Self.order, greatest] {
      for altered in [bad + s, r + bad, bad + bad] {
        #expect(try !key.publicKey.isValidSignature(altered, for: message, using: .ecdsaP256SHA256))
      }
    }
    // r + n and s + n are the same residues; they fit 32 bytes only where the sum does.
    if let sum = Self.addingOrder(to: s) {
      #expect(try !key.publicKey.isValidSignature(r + sum, for: message, using: .ecdsaP256SHA256))
    }
  }

  @Test func `no single altered bit of a raw signature is accepted`() throws {
    let key = try PrivateKey.generateP256()
    let message = Random.bytes(64)
    let signature = try key.signature(for: message, using: .ecdsaP256SHA256)
    for bit in 0..<(64 * 8) {
      var altered = signature
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try !key.publicKey.isValidSignature(altered, for: message, using: .ecdsaP256SHA256))
    }
  }

  @Test func `a DER signature is strict DER`() throws {
    let key = try PrivateKey.generateP256()
    let message: [UInt8] = [1, 2, 3]
    let der = try key.signature(for: message, using: .ecdsa(.sha256))
    let content = Array(der[2...])
    let notDER: [[UInt8]] = [
      [], der + [0], [0x30, 0x81, UInt8(content.count)] + content,
      [0x30, 0x82, 0, UInt8(content.count)] + content, [0x30, 0x80] + content + [0, 0],
      [0x30, UInt8(content.count + 2)] + content + [5, 0], [0x31] + der[1...], Array(der.dropLast()),
    ]
    for encoding in notDER {
      #expect(try !key.publicKey.isValidSignature(encoding, for: message, using: .ecdsa(.sha256)))
    }
  }

  @Test func `an algorithm that does not match the key is refused for signing`() throws {
    let p256 = try PrivateKey.generateP256()
    let p384 = try PrivateKey.generateP384()
    for (key, algorithm) in [
      (p256, SignatureAlgorithm.rsaPKCS1v15(.sha256)), (p384, .ecdsaP256SHA256), (p384, .rsaPKCS1v15(.sha1)),
    ] {
      let error = #expect(throws: CryptoError.self) { try key.signature(for: [], using: algorithm) }
      #expect(error?.code == .unsupportedAlgorithm)
    }
  }

  @Test func `OpenSSL's high-level call agrees about valid and altered signatures`() throws {
    var generator = SystemRandomNumberGenerator()
    let keys = [try PrivateKey.generateP256(), try .generateP384(), try .generateRSA()]
    for key in keys {
      for digest in DigestAlgorithm.allCases {
        var algorithm = SignatureAlgorithm.ecdsa(digest)
        if case .rsa = key.publicKey.kind { algorithm = .rsaPKCS1v15(digest) }
        for _ in 0..<40 {
          let message = Random.bytes(Int.random(in: 0..<300, using: &generator))
          let genuine = try key.signature(for: message, using: algorithm)
          var altered = genuine
          switch Int.random(in: 0..<5, using: &generator) {
          case 0: break
          case 1: altered.append(UInt8.random(in: 0...255, using: &generator))
          case 2: altered.removeLast()
          case 3: altered.insert(0, at: Int.random(in: 0...8, using: &generator))
          default:
            let bit = Int.random(in: 0..<(altered.count * 8), using: &generator)
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
          }
          let isValid = try key.publicKey.isValidSignature(altered, for: message, using: algorithm)
          let reference = SignatureReference.isValidSignature(
            altered, for: message, digest: digest, key: key.publicKey)
          #expect(isValid == reference)
          #expect(isValid == (altered == genuine))
        }
      }
    }
  }

  @Test func `one key serves many tasks at once`() async throws {
    let p256 = try PrivateKey.generateP256()
    let rsa = try PrivateKey.generateRSA(bits: 1024)
    let failures = await withTaskGroup(of: Int.self) { group in
      for task in 0..<32 {
        group.addTask {
          let message: [UInt8] = [UInt8(task)]
          var failures = 0
          for _ in 0..<20 {
            for (key, algorithm) in [(p256, SignatureAlgorithm.ecdsaP256SHA256), (rsa, .rsaPKCS1v15(.sha1))] {
              guard let signature = try? key.signature(for: message, using: algorithm),
                (try? key.publicKey.isValidSignature(signature, for: message, using: algorithm)) == true,
                (try? key.publicKey.isValidSignature(signature, for: [0xFF], using: algorithm)) == false
              else {
                failures += 1
                continue
              }
            }
          }
          return failures
        }
      }
      return await group.reduce(0, +)
    }
    #expect(failures == 0)
  }

  /// `nil` where the sum does not fit 32 bytes.
  private static func addingOrder(to value: [UInt8]) -> [UInt8]? {
    var sum = [UInt8](repeating: 0, count: 32)
    var carry = 0
    for index in (0..<32).reversed() {
      carry += Int(value[index]) + Int(order[index])
      sum[index] = UInt8(carry & 0xFF)
      carry >>= 8
    }
    return carry == 0 ? sum : nil
  }
}
