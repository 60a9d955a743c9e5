// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct SigningIdentityTests {
  @Test func aKeyThatDoesNotBelongToTheLeafIsRefused() throws {
    let identity = try TestIdentities.es256.get()
    let other = try PrivateKey.generateP256()
    let error = signingError { () throws(SigningError) in
      try SigningIdentity(privateKey: other, chain: identity.chain)
    }
    #expect(error?.code == .keyMismatch)
  }

  @Test func aChainWithoutCertificatesIsRefused() throws {
    let identity = try TestIdentities.es256.get()
    let error = signingError { () throws(SigningError) in
      try SigningIdentity(privateKey: identity.privateKey, chain: [])
    }
    #expect(error?.code == .emptyChain)
  }

  @Test func aChainInTheWrongOrderIsRefusedWithItsPlace() throws {
    let chain = try TestIdentities.es256.get().chain
    let key = try TestIdentities.es256.get().privateKey
    let error = signingError { () throws(SigningError) in
      try SigningIdentity(privateKey: key, chain: [chain[0], chain[2], chain[1]])
    }
    #expect(error?.code == .brokenChain)
    #expect(error?.place == "certificate 0")
    let later = signingError { () throws(SigningError) in
      try SigningIdentity(privateKey: key, chain: [chain[0], chain[1], chain[1]])
    }
    #expect(later?.code == .brokenChain)
    #expect(later?.place == "certificate 1")
  }

  @Test func aChainOfTheSameNamesButOtherKeysIsRefused() throws {
    let identity = try TestIdentities.es256.get()
    let namesake = try SigningIdentity.create(.init(organization: "Test Store", start: testStart))
    #expect(namesake.chain[1].subjectDER == identity.chain[1].subjectDER)
    let error = signingError { () throws(SigningError) in
      try SigningIdentity(
        privateKey: identity.privateKey, chain: [identity.chain[0]] + namesake.chain.dropFirst())
    }
    #expect(error?.code == .brokenChain)
  }

  @Test func theKeyIsNeverPrinted() throws {
    for result in [TestIdentities.es256, TestIdentities.rsa] {
      let identity = try result.get()
      var dumped = ""
      dump(identity, to: &dumped)
      dump([identity], to: &dumped)
      let texts = [
        "\(identity)", String(reflecting: identity), "\([identity])", dumped,
        "\(Mirror(reflecting: identity).children.map { "\($0)" })", "\(ReceiptSigner(identity: identity))",
        String(describing: try? JWSSigner(identity: identity)),
        String(describing: try? AppReceiptSigner(identity: identity)),
      ]
      let pem = try identity.privateKey.pkcs8PEM(passphrase: nil)
      let secret = try #require(pem.split(separator: "\n").dropFirst().first)
      for text in texts {
        #expect(!text.contains(secret))
        #expect(!text.contains("PRIVATE"))
        #expect(!text.contains("privateKey:"))
      }
      #expect("\(identity)".contains(identity.chain[0].sha256FingerprintHex))
    }
  }

  @Test func keyFilesAreReadInDERToo() throws {
    let identity = try TestIdentities.es256.get()
    let pem = try identity.privateKey.pkcs8PEM(passphrase: nil)
    let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let der = try Base64.decode(Array(body.utf8))
    let chain = identity.chain.flatMap { Array($0.pem.utf8) }
    for key in [Array(pem.utf8), der] {
      let read = try SigningIdentity(keyFile: key, chainFile: chain)
      #expect(read.chain == identity.chain)
      #expect(read.privateKey.publicKey == identity.privateKey.publicKey)
    }
    // A certificate alone in DER is a chain of one.
    #expect(try SigningIdentity(keyFile: der, chainFile: identity.chain[0].der).chain.count == 1)
  }

  @Test func anEncryptedKeyNeedsItsPassphrase() throws {
    let identity = try TestIdentities.es256.get()
    let pem = Array(try identity.privateKey.pkcs8PEM(passphrase: Array("open sesame".utf8)).utf8)
    let chain = identity.chain.flatMap { Array($0.pem.utf8) }
    #expect(String(decoding: pem, as: UTF8.self).contains("BEGIN ENCRYPTED PRIVATE KEY"))
    let passphrase = Passphrase.trimmingLineEnd(Array("open sesame\n".utf8))
    #expect(try SigningIdentity(keyFile: pem, chainFile: chain, passphrase: passphrase).chain.count == 3)
    let without = signingError { () throws(SigningError) in
      try SigningIdentity(keyFile: pem, chainFile: chain)
    }
    #expect(without?.code == .passphraseRequired)
    let wrong = signingError { () throws(SigningError) in
      try SigningIdentity(keyFile: pem, chainFile: chain, passphrase: Array("open barley".utf8))
    }
    #expect(wrong?.code == .wrongPassphrase)
  }

  @Test func damagedFilesAreToldApart() throws {
    let identity = try TestIdentities.es256.get()
    let key = Array(try identity.privateKey.pkcs8PEM(passphrase: nil).utf8)
    let chain = identity.chain.flatMap { Array($0.pem.utf8) }
    let noKey = signingError { () throws(SigningError) in
      try SigningIdentity(keyFile: chain, chainFile: chain)
    }
    #expect(noKey?.code == .malformedKey)
    let noChain = signingError { () throws(SigningError) in
      try SigningIdentity(keyFile: key, chainFile: key)
    }
    #expect(noChain?.code == .malformedCertificate)
  }

  @Test func oneLineEndIsTrimmedFromAPassphrase() {
    func trimmed(_ text: String) -> String {
      String(decoding: Passphrase.trimmingLineEnd(Array(text.utf8)), as: UTF8.self)
    }
    #expect(trimmed("secret\n") == "secret")
    #expect(trimmed("secret\r\n") == "secret")
    #expect(trimmed("secret\n\n") == "secret\n")
    #expect(trimmed(" secret ") == " secret ")
    #expect(trimmed("") == "")
  }
}
