// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

@Suite struct Ed25519Tests {
  struct Vector: Sendable {
    let seed, publicKey, message, signature: String
  }

  /// RFC 8032 section 7.1.
  static let vectors = [
    Vector(
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      message: "",
      signature: """
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
        5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
        """),
    Vector(
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
      message: "72",
      signature: """
        92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
        085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
        """),
    Vector(
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
      message: "af82",
      signature: """
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
        18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
        """),
  ]

  @Test(arguments: vectors) func `keys and signatures are those of RFC 8032`(vector: Vector) throws {
    let key = try Ed25519PrivateKey(rawRepresentation: bytes(hex: vector.seed))
    let message = bytes(hex: vector.message)
    #expect(key.publicKey.rawRepresentation == bytes(hex: vector.publicKey))
    #expect(try key.signature(for: message) == bytes(hex: vector.signature))
    #expect(try key.publicKey.isValidSignature(bytes(hex: vector.signature), for: message))
    #expect(try !key.publicKey.isValidSignature(bytes(hex: vector.signature), for: message + [0]))
  }

  @Test func `a signature with an altered bit, or of another length, is invalid`() throws {
    let key = try Ed25519PrivateKey.generate()
    let message = Array("message".utf8)
    let signature = try key.signature(for: message)
    for bit in 0..<(signature.count * 8) {
      var altered = signature
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try !key.publicKey.isValidSignature(altered, for: message))
    }
    for length in 0..<64 {
      #expect(try !key.publicKey.isValidSignature(Array(signature[..<length]), for: message))
    }
    #expect(try !key.publicKey.isValidSignature(signature + [0], for: message))
    #expect(try !Ed25519PrivateKey.generate().publicKey.isValidSignature(signature, for: message))
  }

  @Test func `PKCS#8 round-trips, also encrypted`() throws {
    let key = try Ed25519PrivateKey.generate()
    #expect(try Ed25519PrivateKey(pem: key.pkcs8PEM()).publicKey == key.publicKey)
    let pem = try key.pkcs8PEM(passphrase: Array("open".utf8))
    #expect(try Ed25519PrivateKey(pem: pem, passphrase: Array("open".utf8)).publicKey == key.publicKey)
    var error = #expect(throws: CryptoError.self) {
      try Ed25519PrivateKey(pem: pem, passphrase: Array("shut".utf8))
    }
    #expect(error?.code == .wrongPassphrase)
    error = #expect(throws: CryptoError.self) { try Ed25519PrivateKey(pem: pem) }
    #expect(error?.code == .passphraseRequired)
    error = #expect(throws: CryptoError.self) { try Ed25519PrivateKey(pem: "") }
    #expect(error?.code == .malformedPEM)
  }

  @Test func `keys of another kind or length are refused`() throws {
    var error = #expect(throws: CryptoError.self) { try Ed25519PrivateKey(pem: KeyFixtures.pkcs8) }
    #expect(error?.code == .unsupportedKey)
    error = #expect(throws: CryptoError.self) { try PrivateKey(pem: Ed25519PrivateKey.generate().pkcs8PEM()) }
    #expect(error?.code == .unsupportedKey)
    for length in [0, 31, 33, 64] {
      error = #expect(throws: CryptoError.self) {
        try Ed25519PrivateKey(rawRepresentation: Random.bytes(length))
      }
      #expect(error?.code == .malformedKey)
      error = #expect(throws: CryptoError.self) {
        try Ed25519PublicKey(rawRepresentation: Random.bytes(length))
      }
      #expect(error?.code == .malformedKey)
    }
  }

  @Test func `a private key is never printed`() throws {
    let key = try Ed25519PrivateKey(rawRepresentation: bytes(hex: Self.vectors[0].seed))
    var dumped = ""
    dump(["key": key], to: &dumped)
    for text in [String(describing: key), String(reflecting: key), "\([key])", dumped] {
      #expect(text.contains("d75a980182b10ab7"))
      #expect(!text.lowercased().contains("9d61b19d"))
      #expect(!text.contains("157, 97, 177"))
    }
  }

  @Test(.enabled(if: OpenSSLCommand.isAvailable, "there is no openssl command"))
  func `the openssl command agrees, either way`() throws {
    let openssl = try OpenSSLCommand()
    defer { openssl.remove() }
    for length in [1, 64, 1000] {
      let message = Random.bytes(length)
      try openssl.write(message, "message")
      // Its key and signature, verified here.
      try openssl.run("genpkey", "-algorithm", "ed25519", "-out", "theirs.pem")
      let theirs = try Ed25519PrivateKey(pem: String(decoding: openssl.read("theirs.pem"), as: UTF8.self))
      try openssl.run(
        "pkeyutl", "-sign", "-rawin", "-inkey", "theirs.pem", "-in", "message", "-out", "signature")
      let signature = try openssl.read("signature")
      #expect(try theirs.publicKey.isValidSignature(signature, for: message))
      #expect(try theirs.signature(for: message) == signature)
      // Our key and signature, verified there.
      let ours = try Ed25519PrivateKey.generate()
      try openssl.write(ours.pkcs8PEM(), "ours.pem")
      try openssl.write(ours.signature(for: message), "signature")
      let answer = try openssl.run(
        "pkeyutl", "-verify", "-rawin", "-inkey", "ours.pem", "-in", "message", "-sigfile", "signature")
      #expect(answer.contains("Verified Successfully"))
      #expect(try openssl.run("pkey", "-in", "ours.pem") == ours.pkcs8PEM())
    }
  }
}

/// Every Ed25519 vector of C2SP/wycheproof.
@Suite(.enabled(if: SharedData.has("vectors/wycheproof"), "published vectors are not beside the package"))
struct Ed25519WycheproofTests {
  struct File: Decodable {
    struct Group: Decodable {
      struct Key: Decodable { var pk: String }
      struct Case: Decodable { var tcId: Int, comment: String, msg: String, sig: String, result: String }
      var publicKey: Key
      var tests: [Case]
    }
    var numberOfTests: Int
    var testGroups: [Group]
  }

  @Test func `every vector has its stated result`() throws {
    let data = Data(try SharedData.bytes("vectors/wycheproof/ed25519_test.json"))
    let file = try JSONDecoder().decode(File.self, from: data)
    var count = 0
    for group in file.testGroups {
      let key = try Ed25519PublicKey(rawRepresentation: bytes(hex: group.publicKey.pk))
      for test in group.tests {
        let isValid = try key.isValidSignature(bytes(hex: test.sig), for: bytes(hex: test.msg))
        #expect(isValid == (test.result == "valid"), "\(test.tcId): \(test.comment)")
        count += 1
      }
    }
    #expect(count == file.numberOfTests)
    #expect(count > 100)
  }
}
