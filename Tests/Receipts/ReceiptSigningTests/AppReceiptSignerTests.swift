// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct AppReceiptSignerTests {
  private let payload = AppReceiptPayload().with {
    $0.environment = .productionSandbox
    $0.bundleId = "com.example.app"
    $0.applicationVersion = "2.1"
    $0.receiptCreationDate = testStart
    $0.inAppPurchases = [
      InAppPurchase(
        transaction: Transaction(transactionId: "1", productId: "coins", quantity: 3, purchaseDate: testStart)
      )
    ]
  }
  private let device: [UInt8] = Array(0..<16)

  @Test func theContainerIsThatOfTheAppStore() throws {
    let identity = try TestIdentities.rsa.get()
    let receipt = try UnverifiedAppReceipt(parsing: AppReceiptSigner(identity: identity).sign(payload))
    let container = receipt.signedData
    #expect(container.certificates.map { Array($0) } == identity.chain.map(\.der))
    try #require(container.signerInfos.count == 1)
    let signer = container.signerInfos[0]
    #expect(signer.signedAttributes == nil)
    #expect(signer.digestAlgorithm == ObjectIdentifiers.sha256)
    #expect(signer.signatureAlgorithm == ObjectIdentifiers.rsaEncryption)
    #expect(Array(signer.issuer) == identity.chain[0].issuerDER)
    #expect(Array(signer.serialNumber) == identity.chain[0].serialNumber)
    #expect(
      try identity.privateKey.publicKey.isValidSignature(
        Array(signer.signature), for: Array(container.content), using: .rsaPKCS1v15(.sha256)))
    #expect(try receipt.decoded().content == payload)
  }

  @Test func theDeviceHashCoversDeviceOpaqueValueAndBundle() throws {
    var payload = payload
    payload.opaqueValue = Array(repeating: 0xA5, count: 16)
    let signer = try AppReceiptSigner(identity: TestIdentities.rsa.get())
    let bound = try UnverifiedAppReceipt(parsing: signer.sign(payload, deviceIdentifier: device))
      .decoded().content
    #expect(bound.opaqueValue == Array(repeating: 0xA5, count: 16))
    // The value of attribute 2 in DER: UTF8String (tag 12) of 15 bytes.
    let bundle = [0x0C, 15] + Array("com.example.app".utf8)
    #expect(
      bound.sha1Hash == Digest.hash(device + Array(repeating: 0xA5, count: 16) + bundle, using: .sha1))
  }

  @Test func theOpaqueValueIsRandomUnlessGiven() throws {
    let signer = try AppReceiptSigner(identity: TestIdentities.rsa.get())
    let first = try UnverifiedAppReceipt(parsing: signer.sign(payload, deviceIdentifier: device))
      .decoded().content
    let second = try UnverifiedAppReceipt(parsing: signer.sign(payload, deviceIdentifier: device))
      .decoded().content
    #expect(first.opaqueValue?.count == 16 && first.opaqueValue != second.opaqueValue)
    let unbound = try UnverifiedAppReceipt(parsing: signer.sign(payload)).decoded().content
    #expect(unbound.opaqueValue == nil && unbound.sha1Hash == nil)
  }

  @Test func aDeviceIdentifierHasSixOrSixteenBytes() throws {
    let signer = try AppReceiptSigner(identity: TestIdentities.rsa.get())
    for count in [0, 5, 7, 15, 17] {
      let error = signingError { () throws(SigningError) in
        try signer.sign(payload, deviceIdentifier: Array(repeating: 1, count: count))
      }
      #expect(error?.code == .invalidValue)
      #expect(error?.place == "device identifier")
    }
    #expect(try !signer.sign(payload, deviceIdentifier: Array(0..<6)).isEmpty)
    let error = signingError { () throws(SigningError) in
      try signer.sign(AppReceiptPayload(), deviceIdentifier: device)
    }
    #expect(error?.code == .missingField)
  }

  @Test func anECIdentityAShortKeyAndAShortChainAreRefused() throws {
    let elliptic = signingError { () throws(SigningError) in
      try AppReceiptSigner(identity: TestIdentities.es256.get())
    }
    #expect(elliptic?.code == .unsuitableKey)
    let key = try PrivateKey.generateRSA(bits: 1024)
    let template = CertificateTemplate(
      subject: DistinguishedName(commonName: "Short"), notBefore: 1_600_000_000, notAfter: 1_900_000_000)
    let leaf = try Certificate.issue(template, for: key.publicKey, by: .itself(key))
    let weak = signingError { () throws(SigningError) in
      try AppReceiptSigner(identity: SigningIdentity(uncheckedKey: key, chain: [leaf, leaf, leaf]))
    }
    #expect(weak?.code == .unsuitableKey)
    let identity = try TestIdentities.rsa.get()
    let short = try SigningIdentity(
      privateKey: identity.privateKey, chain: Array(identity.chain.prefix(2)))
    let error = signingError { () throws(SigningError) in try AppReceiptSigner(identity: short) }
    #expect(error?.code == .chainLength)
  }

  @Test func deviceIdentifiersAreReadAsPeopleWriteThem() {
    let uuid = DeviceIdentifier.bytes("00010203-0405-0607-0809-0A0b0C0d0E0f")
    #expect(uuid == device)
    #expect(DeviceIdentifier.bytes("000102030405060708090a0b0c0d0e0f") == device)
    #expect(DeviceIdentifier.bytes("a8:20:66:ff:00:01") == [0xA8, 0x20, 0x66, 0xFF, 0x00, 0x01])
    for text in ["", "a820", "a8:2:066:ff:00:01", "g8:20:66:ff:00:01", String(repeating: "0", count: 34)] {
      #expect(DeviceIdentifier.bytes(text) == nil)
    }
  }
}
