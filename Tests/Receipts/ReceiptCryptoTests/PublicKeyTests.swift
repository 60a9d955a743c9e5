// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct PublicKeyTests {
  @Test func `PEM and DER are the same key`() throws {
    let key = try PublicKey(pem: KeyFixtures.publicKey)
    #expect(key.kind == .p256)
    #expect(key.pem == KeyFixtures.publicKey + "\n")
    let again = try PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo)
    #expect(again == key)
    #expect(Set([again, key]).count == 1)
    #expect(try PrivateKey(pem: KeyFixtures.sec1).publicKey == key)
  }

  @Test func `a compressed point verifies like an uncompressed one`() throws {
    let key = try PrivateKey(pem: KeyFixtures.pkcs8)
    let compressed = try PublicKey(pem: KeyFixtures.compressedPublicKey)
    #expect(compressed.kind == .p256)
    let signature = try key.signature(for: [7], using: .ecdsaP256SHA256)
    #expect(try compressed.isValidSignature(signature, for: [7], using: .ecdsaP256SHA256))
  }

  @Test func `keys of other types are refused`() throws {
    let signer = try PrivateKey(pem: KeyFixtures.pkcs8)
    let signature = try signer.signature(for: [7], using: .ecdsaP256SHA256)
    for pem in [KeyFixtures.explicitPublicKey, KeyFixtures.ed25519PublicKey] {
      let key = try PublicKey(pem: pem)
      guard case .other = key.kind else {
        Issue.record("\(key.kind) is a kind that is used")
        continue
      }
      for algorithm in SignatureTests.algorithms + [.rsaPKCS1v15(.sha256)] {
        #expect(try !key.isValidSignature(signature, for: [7], using: algorithm))
      }
    }
  }

  @Test func `a hybrid point is not taken for a P-256 key`() {
    // 06 or 07 ‖ x ‖ y, which RFC 5480 section 2.2 forbids.
    #expect((try? PublicKey(pem: KeyFixtures.hybridPublicKey))?.kind != .p256)
  }

  @Test func `the point at infinity is not taken for a P-256 key`() throws {
    let key = try PublicKey(pem: KeyFixtures.publicKey)
    let algorithm = Array(key.subjectPublicKeyInfo[2..<23])
    let infinity: [UInt8] = [0x30, 25] + algorithm + [0x03, 0x02, 0x00, 0x00]
    #expect((try? PublicKey(subjectPublicKeyInfo: infinity))?.kind != .p256)
  }

  @Test func `a point off the curve is malformed`() throws {
    var bytes = try PublicKey(pem: KeyFixtures.publicKey).subjectPublicKeyInfo
    bytes[bytes.count - 1] ^= 1
    let error = #expect(throws: CryptoError.self) { try PublicKey(subjectPublicKeyInfo: bytes) }
    #expect(error?.code == .malformedKey)
  }

  @Test func `bytes after the key, or missing from it, are malformed`() throws {
    for pem in [KeyFixtures.publicKey, try PrivateKey(pem: KeyFixtures.rsaPKCS8).publicKey.pem] {
      let bytes = try PublicKey(pem: pem).subjectPublicKeyInfo
      let error = #expect(throws: CryptoError.self) { try PublicKey(subjectPublicKeyInfo: bytes + [0]) }
      #expect(error?.code == .malformedKey)
      for length in 0..<bytes.count {
        #expect(throws: CryptoError.self) { try PublicKey(subjectPublicKeyInfo: Array(bytes[..<length])) }
      }
    }
  }

  @Test func `an altered bit gives another key or none`() throws {
    for pem in [KeyFixtures.publicKey, try PrivateKey(pem: KeyFixtures.rsaPKCS8).publicKey.pem] {
      let bytes = try PublicKey(pem: pem).subjectPublicKeyInfo
      for bit in 0..<(bytes.count * 8) {
        var altered = bytes
        altered[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let key = try? PublicKey(subjectPublicKeyInfo: altered) else { continue }
        #expect(key.subjectPublicKeyInfo == altered)
        #expect(try !key.isValidSignature([0, 1, 2], for: [], using: .rsaPKCS1v15(.sha256)))
      }
    }
  }

  @Test func `RSA keys of other sizes are refused`() throws {
    let message: [UInt8] = [1]
    for (bits, exponent) in [(512, 3), (1023, 3), (16_384, 3)] {
      let key = try PublicKey(subjectPublicKeyInfo: Self.rsa(bits: bits, exponent: [UInt8(exponent)]))
      #expect(key.kind == .rsa(bits: bits))
      let signature = [UInt8](repeating: 0, count: (bits + 7) / 8)
      #expect(try !key.isValidSignature(signature, for: message, using: .rsaPKCS1v15(.sha256)))
    }
    let modulus = try PrivateKey(pem: KeyFixtures.rsaPKCS8)
    #expect(modulus.publicKey.kind == .rsa(bits: 2048))
  }

  @Test(arguments: [[1], [2], [0x01, 0x00, 0x00, 0x00, 0x01] as [UInt8]])
  func `RSA keys with the exponent 1, or an even or long one, are refused`(exponent: [UInt8]) throws {
    // With the exponent 1 the signature is the padded digest itself: anyone can write it.
    let message: [UInt8] = [1]
    let key = try PublicKey(subjectPublicKeyInfo: Self.rsa(bits: 2048, exponent: exponent))
    let prefix = bytes(hex: "3031300d060960864801650304020105000420")
    let digest = Digest.hash(message, using: .sha256)
    let padding = [UInt8](repeating: 0xFF, count: 256 - 3 - prefix.count - digest.count)
    let forged: [UInt8] = [0, 1] + padding + [0] + prefix + digest
    #expect(try !key.isValidSignature(forged, for: message, using: .rsaPKCS1v15(.sha256)))
    if exponent == [1] {
      #expect(SignatureReference.isValidSignature(forged, for: message, digest: .sha256, key: key))
    }
  }

  @Test(
    arguments: [
      (
        [0x01, 0x00, 0x00, 0x00, 0x01], "long exponent",
        "480c598786a2611339c588359b9c8cf6e14de1b18c28406758bb3a522ed72222375ede007abfb4634f5978"
          + "45154c8bec76ad7290a9b8951f6292e372ef7192c91e081220b46488d0ccd4ff58651b64e435dac0633dd8"
          + "b59685302ed14c066d9f5a5022bf4618c644e2cacbdb10901787503c7d63e56c24e7ab9ac2f171edcab4"
      ),
      (
        [2], "0",
        "0ad2941c0728743f8e9207f902585ea878852dbee187920f7957c316425b252bf7772edf31cfb444d876a3"
          + "16ed85da4a80a9f7a4b7a160547adcb6a9f22311c496d629a470c10fc4be651299c7da30fb33bf71cb15e2"
          + "9dbb3936ef5974861b77314dd2e30484820ef3d2c4eaa75ff7eb5cc24c006a8b30bcc0add3e2be83fe6f"
      ),
    ] as [([UInt8], String, String)])
  func `signatures by keys with an even or long exponent are not valid`(
    exponent: [UInt8], message: String, signature: String
  ) throws {
    // Of 1024 bits and made of two primes p and q, so that s can be computed with padded digest = s^e.
    let modulus = bytes(
      hex: "d5b73dd81b7930ce475c0bda6769fe87a9323ea020247b57da32b193c2dcd68417a923229b253bc7736c24"
        + "6dfbe59b64488e9c783781c40297e8af38349ac8e7af359f28d8e2acc607341492f36f88fc1122cd709842"
        + "8595a0b207c9f15a11d2f220408cf8013e6f35fa10a6526bdda10fd04d3692df2b5cedf58dc0b446d441")
    let key = try PublicKey(
      subjectPublicKeyInfo: Self.rsa(modulus: [0] + modulus, exponent: exponent))
    let message = Array(message.utf8)
    let signature = bytes(hex: signature)
    #expect(SignatureReference.isValidSignature(signature, for: message, digest: .sha256, key: key))
    #expect(try !key.isValidSignature(signature, for: message, using: .rsaPKCS1v15(.sha256)))
  }

  @Test func `a key in BER is malformed`() throws {
    let encoded = try PublicKey(pem: KeyFixtures.publicKey).subjectPublicKeyInfo
    let longLength = [encoded[0], 0x81] + encoded[1...]
    let error = #expect(throws: CryptoError.self) { try PublicKey(subjectPublicKeyInfo: longLength) }
    #expect(error?.code == .malformedKey)
  }

  @Test func `PEM without a public key is reported`() throws {
    let error = #expect(throws: CryptoError.self) { try PublicKey(pem: KeyFixtures.sec1) }
    #expect(error?.code == .malformedPEM)
  }

  /// A SubjectPublicKeyInfo with a modulus of ones.
  private static func rsa(bits: Int, exponent: [UInt8]) -> [UInt8] {
    var modulus = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
    if bits % 8 == 0 { modulus.insert(0, at: 0) } else { modulus[0] = (1 << UInt8(bits % 8)) - 1 }
    return rsa(modulus: modulus, exponent: exponent)
  }

  /// A SubjectPublicKeyInfo of these numbers, as INTEGER holds them.
  private static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
    let key = element(0x30, element(0x02, modulus) + element(0x02, exponent))
    return element(0x30, bytes(hex: "300d06092a864886f70d0101010500") + element(0x03, [0] + key))
  }

  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    switch content.count {
    case ..<0x80: [tag, UInt8(content.count)] + content
    case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
    default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
  }
}
