// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptInspection
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite("Chains of certificates")
struct ChainTests {
  private func chain(_ certificates: [[UInt8]]) throws -> CertificateChain {
    let inspection = try Inspection(jws: "{}", certificates: certificates)
    return try #require(inspection.signers.first).chain
  }

  @Test("From the root down to the signer, with what each states")
  func complete() throws {
    let authority = try TestAuthority.es256()
    let chain = try chain(authority.identity.chain.map(\.der))
    #expect(chain.certificates.map(\.role) == [.root, .intermediate, .signer])
    #expect(chain.certificates.allSatisfy { !$0.isBuiltIn })
    #expect(chain.missingIssuer == nil)
    #expect(chain.end == .otherRoot)
    let signer = try #require(chain.certificates.last)
    let details = try #require(signer.certificate?.jsonValue)
    let leaf = authority.identity.chain[0]
    #expect(signer.name == "ReceiptKit Test Receipt Signing ES256")
    #expect(details["subject"]?.string == leaf.subject)
    #expect(details["issuer"]?.string == authority.intermediate.subject)
    #expect(details["sha256"]?.string == leaf.sha256FingerprintHex)
    #expect(details["notBefore"]?.string == TestAuthority.validFrom.iso8601)
    #expect(details["key"]?.string == "P-256")
    #expect(ObjectIdentifiers.names[details["signatureAlgorithm"]?.string ?? ""] == "ecdsa-with-SHA256")
    let extensions = try #require(details["extensions"]?.array)
    let usage = try #require(extensions.first { $0["name"]?.string == "keyUsage" })
    #expect(usage["value"]?.string == "digitalSignature" && usage["critical"] == .bool(true))
    #expect(usage["type"]?.string == "2.5.29.15")
    let marker = try #require(extensions.first { $0["name"]?.string == "App Store receipt signing" })
    #expect(marker["value"] == nil && marker["hex"]?.string == "0500")
  }

  @Test("An issuer that does not come along is missing, by name")
  func missing() throws {
    let authority = try TestAuthority.es256()
    let chain = try chain([authority.identity.chain[0].der])
    #expect(chain.certificates.map(\.role) == [.signer])
    #expect(chain.missingIssuer?.name == "ReceiptKit Test Intermediate CA ES256")
    #expect(chain.end == .missingIssuer)
  }

  @Test("Certificates that do not lead to a root, or are malformed, are off the path")
  func unused() throws {
    let authority = try TestAuthority.es256()
    let other = try TestAuthority.rsa().root
    let chain = try chain(authority.identity.chain.map(\.der) + [other.der, [1, 2, 3]])
    #expect(chain.certificates.map(\.role) == [.root, .intermediate, .signer, .notOnPath, .notOnPath])
    let malformed = try #require(chain.certificates.last)
    #expect(malformed.certificate == nil && malformed.name.hasPrefix("MALFORMED: "))
    #expect(chain.certificates[3].certificate?.publicKey.kind.name == "RSA-2048")
  }

  @Test("No readable certificate of a signer")
  func none() throws {
    #expect(try chain([]).end == .noSigner)
    let malformed = try chain([[1, 2, 3]])
    #expect(malformed.end == .noSigner && malformed.missingIssuer == nil)
    #expect(malformed.certificates.map(\.role) == [.signer])
  }

  @Test("An issuer that is built in, and does not come along")
  func builtIn() throws {
    let intermediate = try #require(TrustAnchors.appleIntermediates.first)
    let chain = try chain([intermediate.der])
    #expect(chain.certificates.map(\.role) == [.root, .signer])
    #expect(chain.certificates.map(\.isBuiltIn) == [true, false])
    #expect(chain.certificates[0].certificate?.subject == intermediate.issuer)
    #expect(chain.end == .builtInRoot)
  }

  @Test("Issuers are looked for among as many certificates as the verifier reads")
  func many() throws {
    let authority = try TestAuthority.es256()
    let others = [[UInt8]](repeating: try TestAuthority.rsa().root.der, count: 14)
    let issuers = [authority.intermediate.der, authority.root.der]
    let signer = [authority.identity.chain[0].der]
    #expect(try chain(signer + others.dropLast() + issuers).end == .otherRoot)
    let tooMany = try chain(signer + others + issuers)
    #expect(tooMany.end == .missingIssuer)
    #expect(tooMany.certificates.filter { $0.role == .notOnPath }.count == 15)
  }

  @Test("Of many signers of an app receipt as many are shown")
  func manySigners() throws {
    let receipt = try TestReceipts().receipt(of: .appReceipt)
    var signedData = try UnverifiedAppReceipt(parsing: receipt).signedData
    let info = try #require(signedData.signerInfos.first)
    signedData.signerInfos = Array(repeating: info, count: 100)
    let summary = try Inspection(of: signedData.encoded()).summary(at: SampleReceipts.signedAt)
    let signers = summary.signers
    #expect(summary.signerSections.last?.title == "84 more signers, which are not shown")
    #expect(signers.count == 16)
    #expect(signers.map(\.isRepeated) == [false] + Array(repeating: true, count: 15))
  }
}
