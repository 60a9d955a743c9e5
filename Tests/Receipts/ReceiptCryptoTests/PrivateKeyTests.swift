// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct PrivateKeyTests {
  static let passphrase = Array("correct".utf8)

  @Test func `all four formats give the same key`() throws {
    let expected = try PublicKey(pem: KeyFixtures.publicKey)
    #expect(try PrivateKey(pem: KeyFixtures.sec1).publicKey == expected)
    #expect(try PrivateKey(pem: KeyFixtures.pkcs8).publicKey == expected)
    #expect(try PrivateKey(pem: KeyFixtures.encrypted, passphrase: Self.passphrase).publicKey == expected)
    let rsa = try PrivateKey(pem: KeyFixtures.rsaPKCS1)
    #expect(try PrivateKey(pem: KeyFixtures.rsaPKCS8).publicKey == rsa.publicKey)
    #expect(rsa.publicKey.kind == .rsa(bits: 2048))
  }

  @Test func `text and other blocks around a key are skipped`() throws {
    let parameters = "-----BEGIN EC PARAMETERS-----\r\nBggqhkjOPQMBBw==\r\n-----END EC PARAMETERS-----\r\n"
    let windows = KeyFixtures.sec1.replacing("\n", with: "\r\n")
    let key = try PrivateKey(pem: "My key:\n" + parameters + windows + "\r\nthe end")
    #expect(key.publicKey == (try PublicKey(pem: KeyFixtures.publicKey)))
  }

  @Test func `a wrong passphrase and a missing one are different errors`() throws {
    for wrong in ["wrong", ""] {
      let error = #expect(throws: CryptoError.self) {
        try PrivateKey(pem: KeyFixtures.encrypted, passphrase: Array(wrong.utf8))
      }
      #expect(error?.code == .wrongPassphrase)
      #expect(error?.openSSLErrors.isEmpty == false)
    }
    let error = #expect(throws: CryptoError.self) { try PrivateKey(pem: KeyFixtures.encrypted) }
    #expect(error?.code == .passphraseRequired)
  }

  @Test(arguments: [
    KeyFixtures.encryptedPKCS12, KeyFixtures.encryptedScrypt, KeyFixtures.encryptedTraditional,
  ])
  func `other encryptions are refused by name`(pem: String) throws {
    let error = #expect(throws: CryptoError.self) { try PrivateKey(pem: pem, passphrase: Self.passphrase) }
    #expect(error?.code == .unsupportedAlgorithm)
    #expect(error?.message.contains("openssl pkcs8 -topk8") == true)
  }

  @Test func `more iterations than the limit are refused before any is done`() throws {
    let error = #expect(throws: CryptoError.self) {
      try PrivateKey(pem: KeyFixtures.encryptedSlowly, passphrase: Self.passphrase)
    }
    #expect(error?.code == .unsupportedAlgorithm)
    #expect(error?.message.contains("10000001 iterations") == true)
  }

  @Test func `PKCS#8 round-trips`() throws {
    for key in [try PrivateKey.generateP256(), try .generateP384(), try .generateRSA(bits: 1024)] {
      #expect(try PrivateKey(der: key.pkcs8DER()).publicKey == key.publicKey)
      #expect(try PrivateKey(pem: key.pkcs8PEM()).publicKey == key.publicKey)
    }
    let key = try PrivateKey(pem: KeyFixtures.pkcs8)
    #expect(try key.pkcs8PEM() == KeyFixtures.pkcs8 + "\n")
    for passphrase in ["", "Schlüssel"] {
      let pem = try key.pkcs8PEM(passphrase: Array(passphrase.utf8))
      #expect(try PrivateKey(pem: pem, passphrase: Array(passphrase.utf8)).publicKey == key.publicKey)
      let error = #expect(throws: CryptoError.self) {
        try PrivateKey(pem: pem, passphrase: Array((passphrase + "x").utf8))
      }
      #expect(error?.code == .wrongPassphrase)
    }
  }

  @Test func `a private part with another key's public part is malformed`() throws {
    let key = try PrivateKey.generateP256().pkcs8DER()
    let other = try PrivateKey.generateP256().pkcs8DER()
    let mixed = Array(key.dropLast(64) + other.suffix(64))
    let error = #expect(throws: CryptoError.self) { try PrivateKey(der: mixed) }
    #expect(error?.code == .malformedKey)
  }

  @Test func `a curve given by its parameters is refused`() throws {
    let error = #expect(throws: CryptoError.self) { try PrivateKey(pem: KeyFixtures.explicitPrivateKey) }
    #expect(error?.code == .unsupportedKey)
  }

  @Test func `bytes after the key, or missing from it, are malformed`() throws {
    for pem in [KeyFixtures.sec1, KeyFixtures.pkcs8, KeyFixtures.rsaPKCS1, KeyFixtures.rsaPKCS8] {
      let der = try Self.decode(pem)
      let error = #expect(throws: CryptoError.self) { try PrivateKey(der: der + [0]) }
      #expect(error?.code == .malformedKey)
      for length in 0..<der.count {
        let error = #expect(throws: CryptoError.self) { try PrivateKey(der: Array(der[..<length])) }
        #expect(error?.code == .malformedKey)
      }
    }
  }

  @Test func `an altered bit never crashes, and what loads can sign`() throws {
    for pem in [KeyFixtures.sec1, KeyFixtures.pkcs8] {
      let der = try Self.decode(pem)
      for bit in 0..<(der.count * 8) {
        var altered = der
        altered[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let key = try? PrivateKey(der: altered) else { continue }
        let signature = try key.signature(for: [1], using: .ecdsa(.sha256))
        #expect(try key.publicKey.isValidSignature(signature, for: [1], using: .ecdsa(.sha256)))
      }
    }
  }

  @Test func `RSA sizes outside the bounds are refused`() throws {
    for bits in [-1, 0, 512, 1023, 8193, 1 << 40] {
      let error = #expect(throws: CryptoError.self) { try PrivateKey.generateRSA(bits: bits) }
      #expect(error?.code == .unsupportedKey)
    }
  }

  @Test func `a private key is never printed`() throws {
    let key = try PrivateKey(pem: KeyFixtures.pkcs8)
    var dumped = ""
    dump(key, to: &dumped)
    dump(["key": key], to: &dumped)
    for text in [String(describing: key), String(reflecting: key), "\(key)", "\([key])", dumped] {
      #expect(text.contains("p256"))
      // The number itself, in the spellings in which Swift would show it.
      #expect(!text.contains("85, 73, 178"))
      #expect(!text.lowercased().contains("5549b27eef"))
      #expect(!text.contains("VUmyfu9SV6u5"))
      #expect(!text.contains("backing"))
    }
  }

  private static func decode(_ pem: String) throws -> [UInt8] {
    let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
    return try #require(base64(lines.joined()))
  }

  private static func base64(_ text: String) -> [UInt8]? {
    var bits = 0
    var value: UInt32 = 0
    var bytes: [UInt8] = []
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    for character in text where character != "=" {
      guard let digit = alphabet.firstIndex(of: character) else { return nil }
      value = value << 6 | UInt32(digit)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
      }
    }
    return bytes
  }
}
