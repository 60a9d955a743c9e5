// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct IssuingTests {
  @Test func `a root, an intermediate and a leaf form a valid path`() throws {
    let chain = try TestChain()
    #expect(
      CertificationPath.failure(
        leaf: chain.leaf, intermediates: [chain.intermediate], anchor: chain.root, at: TestChain.instant)
        == nil)
  }
}
