// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptInspection
import ReceiptSigning
import ReceiptTesting
import Testing

/// Whatever has a receipt's outermost form is shown, whoever wrote it.
@Suite("Hostile receipts")
struct HostileReceiptTests {
  /// Shows all that can be shown; whether it is a receipt at all.
  private func show(_ bytes: [UInt8]) throws -> Bool {
    guard let inspection = try? Inspection(of: bytes) else { return false }
    let json = try inspection.json()
    #expect(json["verified"] == .bool(false))
    let text = InspectionText(of: inspection, source: "-")
    for shown in [text.full, text.certificates, text.summary(at: SampleReceipts.signedAt)] {
      #expect(shown.hasPrefix("UNVERIFIED  "))
      #expect(shown.hasSuffix("\nUNVERIFIED: nothing here was checked; see 'receipt-tool verify'\n"))
    }
    for signer in inspection.signers {
      for certificate in signer.chain.certificates {
        let extensions = certificate.certificate?.jsonValue["extensions"]?.array ?? []
        #expect(extensions.allSatisfy { $0["type"]?.string?.isEmpty == false })
      }
    }
    return true
  }

  @Test("Receipts with a byte changed", arguments: ReceiptKind.allCases)
  func changed(_ kind: ReceiptKind) throws {
    let receipt = try Inspection(of: kind).receipt
    // The binary form of an app receipt, in which the certificates are not in base64.
    let bytes: [UInt8] =
      if case .appReceipt(let receipt) = receipt { receipt.encoded } else {
        try TestReceipts().receipt(of: kind)
      }
    #expect(try show(bytes))
    var count = 0
    // A prime, so that the digits of base64 and the octets in them change all.
    for index in stride(from: 0, to: bytes.count, by: 31) {
      var changed = bytes
      changed[index] ^= 1 << (index % 7)
      if try show(changed) { count += 1 }
    }
    #expect(count > 0)
  }

  @Test("Certificates with a byte changed, in a chain")
  func changedCertificates() throws {
    let chain = try TestAuthority.es256().identity.chain.map(\.der)
    for index in stride(from: 0, to: chain[0].count, by: 3) {
      var changed = chain
      changed[0][index] ^= 1 << (index % 8)
      let inspection = try Inspection(jws: "{}", certificates: changed)
      let certificates = try #require(inspection.signers.first).chain.certificates
      #expect(certificates.count == 3)
      let isMalformed = try #require(certificates.first { $0.role == .signer }).certificate == nil
      #expect(try isMalformed == (inspection.json()["certificates"]?.array?.first?.string != nil))
    }
  }
}
