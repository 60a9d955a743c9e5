// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Certificates that break RFC 5280 or DER, rightly signed by their issuer.
@Suite struct CertificateEncodingAttackTests {
  private func expectRefusal(
    of chain: ForgedChain, _ receipt: [UInt8], at index: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let verdict = chain.verifier.verify(receipt)
    expectInvalid(verdict, .malformed, at: "certificate \(index)", sourceLocation: sourceLocation)
    #expect(
      verdict.summary.contains("(byte \(chain.fault))"), "\(verdict.summary)", sourceLocation: sourceLocation)
  }

  @Test("the chain is valid before it is forged")
  func soundChain() throws {
    for key in [try Fixture.es256.identity.privateKey, try Fixture.rsa.identity.privateKey] {
      let chain = try ForgedChain(leafKey: key)
      if case .p256 = key.publicKey.kind {
        expectValid(chain.verifier.verify(try chain.jws()))
      } else {
        expectValid(chain.verifier.verify(try chain.appReceipt()))
      }
    }
  }

  @Test("such a certificate is refused with the byte that is wrong", arguments: CertificateFlaw.all, [0, 1])
  func refused(flaw: CertificateFlaw, index: Int) throws {
    let chain = try ForgedChain(leafKey: Fixture.es256.identity.privateKey, forging: index, flaw)
    let error = #expect(throws: CryptoError.self) { try Certificate(der: chain.der[index]) }
    #expect(error?.code == .malformedCertificate)
    #expect(error?.place == "byte \(chain.fault)", "\(error?.description ?? "")")
    expectRefusal(of: chain, try chain.jws(), at: index)
  }

  @Test("an app receipt with such a certificate is refused", arguments: CertificateFlaw.all, [0, 1])
  func refusedInAppReceipt(flaw: CertificateFlaw, index: Int) throws {
    let chain = try ForgedChain(leafKey: Fixture.rsa.identity.privateKey, forging: index, flaw)
    expectRefusal(of: chain, try chain.appReceipt(), at: index)
  }

  @Test("versions 1 and 2 without extensions are read")
  func olderVersions() throws {
    var tree = try DERTree(parsing: ForgedChain(leafKey: Fixture.es256.identity.privateKey).der[0])
    tree.children[0].children.removeLast()
    tree.children[0].children[0].children[0].content = [1]
    #expect(try Certificate(der: tree.encoded).extensions.isEmpty)
    tree.children[0].children.append(DERTree(0x81, [0, 1]))
    #expect(try Certificate(der: tree.encoded).extensions.isEmpty)
    tree.children[0].children.removeLast()
    tree.children[0].children.removeFirst()
    #expect(try Certificate(der: tree.encoded).extensions.isEmpty)
  }
}
