// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct CMSReferenceTests {
  @Test(arguments: [false, true])
  func `signed content verifies, but not after a change`(signedAttributes: Bool) throws {
    let chain = try TestChain()
    let content = Array("content".utf8)
    let message = try CMSReference.sign(
      content, certificate: chain.leaf, key: chain.leafKey, digest: .sha256,
      certificates: [chain.intermediate], signedAttributes: signedAttributes)
    #expect(CMSReference.verify(message) == content)
    #expect(CMSReference.verify(message, anchor: chain.root, at: TestChain.instant) == content)
    #expect(CMSReference.verify(message, anchor: chain.root, at: TestChain.notAfter + 1) == nil)
    #expect(CMSReference.verify(message, anchor: chain.root, at: nil) == content)
    #expect(CMSReference.verify(message, anchor: try TestChain().root, at: TestChain.instant) == nil)
    #expect(CMSReference.verify(message + [0]) == nil)

    let position = try #require(
      (0..<message.count - content.count).first { Array(message[$0..<$0 + content.count]) == content })
    var altered = message
    altered[position] ^= 1
    #expect(CMSReference.verify(altered) == nil)
  }

  @Test func `a key that is not the certificate's cannot sign`() throws {
    let chain = try TestChain()
    let error = #expect(throws: CryptoError.self) {
      try CMSReference.sign(
        [1], certificate: chain.leaf, key: chain.rootKey, digest: .sha256, signedAttributes: false)
    }
    #expect(error?.code == .signingFailed)
    #expect(error?.openSSLErrors.isEmpty == false)
  }
}
