// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct TransactionReceiptSignerTests {
  private let purchaseInfo = TransactionReceiptPurchaseInfo(
    transaction: Transaction(
      transactionId: "1", originalTransactionId: "1", productId: "coins", quantity: 1,
      purchaseDate: testStart,
      originalPurchaseDate: testStart)
  ).with {
    $0.bundleId = "com.example.app"
    $0.applicationVersion = "2.1"
  }

  @Test(arguments: [(UInt8(3), DigestAlgorithm.sha1), (UInt8(4), DigestAlgorithm.sha256)])
  func theSignatureCoversVersionByteAndPurchaseInfo(number: UInt8, digest: DigestAlgorithm) throws {
    let identity = try TestIdentities.rsa.get()
    let version = try #require(TransactionReceiptSigner.SignatureVersion(rawValue: number))
    let text = try TransactionReceiptSigner(identity: identity)
      .sign(purchaseInfo, version: version, environment: .sandbox, pod: "7")
    let receipt = try UnverifiedTransactionReceipt(parsing: text)
    #expect(receipt.signatureVersion == number)
    #expect(receipt.leafCertificate == identity.chain[0].der)
    #expect(receipt.claimedEnvironment == .sandbox)
    #expect(receipt.pod == "7" && receipt.signingStatus == "0")
    #expect(
      try identity.privateKey.publicKey.isValidSignature(
        receipt.signature, for: [number] + receipt.purchaseInfo, using: .rsaPKCS1v15(digest)))
    #expect(try receipt.decoded().content == purchaseInfo)
  }

  @Test func productionIsNotWritten() throws {
    let text = try TransactionReceiptSigner(identity: TestIdentities.rsa.get()).sign(purchaseInfo)
    let receipt = try UnverifiedTransactionReceipt(parsing: text)
    #expect(!receipt.hasEnvironmentKey)
    #expect(receipt.signatureVersion == 4)
  }

  @Test func anECIdentityIsRefused() throws {
    let error = signingError { () throws(SigningError) in
      try TransactionReceiptSigner(identity: TestIdentities.es256.get())
    }
    #expect(error?.code == .unsuitableKey)
  }
}
