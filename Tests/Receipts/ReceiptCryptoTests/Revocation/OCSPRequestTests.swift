// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@Suite struct OCSPRequestTests {
  @Test func aRequestNamesItsCertificateAndNoOther() throws {
    let chain = try TestChain()
    for hash in [DigestAlgorithm.sha1, .sha256] {
      let request = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate, hash: hash)
      let read = try ReceivedOCSPRequest(der: request.der)
      #expect(read.nonce == request.nonce)
      #expect(read.nonce?.count == 32)
      #expect(read.asks(about: chain.leaf, issuer: chain.intermediate))
      #expect(!read.asks(about: chain.leaf, issuer: chain.root))
      #expect(!read.asks(about: chain.intermediate, issuer: chain.root))
    }
  }

  @Test func noncesDifferAndMayBeLeftOut() throws {
    let chain = try TestChain()
    let first = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate)
    let second = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate)
    #expect(first.nonce != second.nonce)
    let without = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate, nonce: nil)
    #expect(try ReceivedOCSPRequest(der: without.der).nonce == nil)
    #expect(throws: OCSPError.self) {
      try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate, nonce: [])
    }
    #expect(throws: OCSPError.self) { try ReceivedOCSPRequest(der: [0x30, 0x00]) }
  }
}
