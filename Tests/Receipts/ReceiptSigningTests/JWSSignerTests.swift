// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct JWSSignerTests {
  private let transaction = JWSTransaction().with {
    $0.transactionId = "1000"
    $0.bundleId = "com.example.app"
    $0.productId = "coins"
    $0.purchaseDate = testStart
    $0.signedDate = testStart
    $0.environment = .sandbox
  }

  @Test func theHeaderIsThatOfTheAppStore() throws {
    let identity = try TestIdentities.es256.get()
    let jws = try JWSSigner(identity: identity).sign(.transaction(transaction))
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    let header = String(decoding: try Base64URL.decode(parts[0]), as: UTF8.self)
    #expect(header.hasPrefix("{\"alg\":\"ES256\",\"x5c\":[\""))
    let parsed = try JWSHeader(decoding: Array(header.utf8))
    #expect(parsed.x5c == identity.chain.map(\.der))
    #expect(parsed.kid == nil && parsed.typ == nil && parsed.unknownFields.isEmpty)
  }

  @Test func theSignatureCoversHeaderAndPayload() throws {
    let identity = try TestIdentities.es256.get()
    let jws = Array(try JWSSigner(identity: identity).sign(.transaction(transaction)).utf8)
    let parsed = try UnverifiedJWS(parsing: jws)
    #expect(parsed.signature.count == 64)
    #expect(
      try identity.privateKey.publicKey.isValidSignature(
        parsed.signature, for: Array(jws[parsed.signingInputRange]), using: .ecdsaP256SHA256))
    #expect(try parsed.decoded().content == .transaction(transaction))
  }

  @Test func everyKindIsSigned() throws {
    let signer = try JWSSigner(identity: TestIdentities.es256.get())
    let payloads: [JWSPayload] = [
      .transaction(transaction),
      .renewalInfo(
        JWSRenewalInfo().with {
          $0.originalTransactionId = "1"
          $0.autoRenewProductId = "monthly"
          $0.signedDate = testStart
        }),
      .appTransaction(
        AppTransaction().with {
          $0.receiptType = .sandbox
          $0.bundleId = "com.example.app"
          $0.receiptCreationDate = testStart
        }),
      .notification(
        Notification().with {
          $0.notificationType = .test
          $0.notificationUUID = UUIDString(rawValue: "u")
          $0.version = "2.0"
        }),
      .realtimeRequest(
        RealtimeRequest(
          originalTransactionId: "1", appAppleId: 7, productId: "monthly", userLocale: "en-US",
          requestIdentifier: UUIDString(rawValue: "u"), environment: .sandbox, signedDate: testStart)),
    ]
    for payload in payloads {
      let parsed = try UnverifiedJWS(parsing: Array(signer.sign(payload).utf8))
      #expect(try parsed.decoded().content == payload)
    }
  }

  @Test func anRSAIdentityIsRefused() throws {
    let identity = try TestIdentities.rsa.get()
    let error = signingError { () throws(SigningError) in try JWSSigner(identity: identity) }
    #expect(error?.code == .unsuitableKey)
    #expect(error?.message.contains("es256") == true)
  }

  @Test func aChainThatIsNotOfThreeIsRefused() throws {
    let identity = try TestIdentities.es256.get()
    for count in [1, 2] {
      let short = try SigningIdentity(
        privateKey: identity.privateKey, chain: Array(identity.chain.prefix(count)))
      let error = signingError { () throws(SigningError) in try JWSSigner(identity: short) }
      #expect(error?.code == .chainLength)
    }
  }
}
