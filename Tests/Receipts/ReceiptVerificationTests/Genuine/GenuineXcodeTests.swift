// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Receipts that Xcode signed. They are valid only if Xcode's certificate is pinned, and the verdict says so.
@Suite(.enabled(if: GenuineReceipts.isPresent, GenuineReceipts.absence)) struct GenuineXcodeTests {
  private func pinning(_ certificates: [Certificate]) -> ReceiptVerifier {
    GenuineReceipts.verifier([.xcode]) { $0.selfSignedTesting = .pinned(certificates: certificates) }
  }

  @Test("Xcode's data is valid when its certificate is pinned", arguments: GenuineReceipts.xcode)
  func pinned(entry: GenuineReceipts.Entry) throws {
    var certificates: [Certificate] = []
    if case .jws(let jws) = try UnverifiedReceipt(parsing: entry.bytes()) {
      certificates = try jws.header().x5c.map { try Certificate(der: $0) }
      #expect(certificates.count == 1)
    }
    // App receipts come under the certificate that every Xcode has, which is pinned with any.
    let receipt = try #require(expectValid(pinning(certificates).verify(try entry.bytes())))
    #expect(receipt.assurance == .pinnedTestCertificate)
    #expect(receipt.environment == .xcode)
    #expect(receipt.bundleId == entry.expected.bundle_id)
    #expect(receipt.signer.sha256 == entry.leaf?.sha256)
    #expect(receipt.signer.rootSHA256 == entry.leaf?.sha256)
  }

  @Test("JWS of Xcode are refused when another certificate is pinned")
  func otherPin() throws {
    for entry in GenuineReceipts.entries(kind: "jws-xcode") {
      expectInvalid(
        pinning([]).verify(try entry.bytes()), .chainLength, at: "$.x5c of the JWS header",
        "\(entry.file)")
    }
  }

  @Test("a pinned test certificate does not make the store's environments acceptable")
  func storePolicy() throws {
    let verifier = GenuineReceipts.verifier { $0.selfSignedTesting = .pinned(certificates: []) }
    for entry in GenuineReceipts.entries(kind: "app-receipt-xcode") {
      expectInvalid(verifier.verify(try entry.bytes()), .wrongEnvironment, "\(entry.file)")
    }
  }

  @Test("the pinned fingerprint is that of Xcode's certificate")
  func fingerprint() throws {
    let certificate = try GenuineReceipts.certificate("StoreKitTestCertificate-2020")
    #expect(certificate.sha256Fingerprint == SelfSignedTesting.storeKitTestCertificate)
  }

  @Test("a pinned app receipt with one bit flipped is refused")
  func flipped() throws {
    let verifier = pinning([])
    for entry in GenuineReceipts.entries(kind: "app-receipt-xcode") {
      guard case .appReceipt(let receipt) = try UnverifiedReceipt(parsing: entry.bytes()) else { continue }
      let genuine = try #require(expectValid(verifier.verify(receipt.encoded)))
      for index in stride(from: 0, to: receipt.encoded.count, by: 7) {
        var flipped = receipt.encoded
        flipped[index] ^= 1 << UInt8(index % 8)
        if let accepted = verifier.verify(flipped).receipt { #expect(accepted == genuine, "byte \(index)") }
      }
    }
  }
}
