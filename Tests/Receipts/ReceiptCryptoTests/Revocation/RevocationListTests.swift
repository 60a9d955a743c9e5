// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@Suite struct RevocationListTests {
  private static let now = TestChain.instant
  private static let url = "http://crl.example.com/list.crl"

  private static func template() -> RevocationListTemplate {
    RevocationListTemplate(thisUpdate: now - 3600, nextUpdate: now + 3600)
  }

  private static func refusal(
    _ chain: TestChain, _ template: RevocationListTemplate, at now: Int64 = now
  ) throws -> RevocationListError.Code? {
    let der = try template.sign(issuer: chain.intermediate, key: chain.intermediateKey)
    return refusal(chain, der, at: now)
  }

  private static func refusal(
    _ chain: TestChain, _ der: [UInt8], at now: Int64 = now
  ) -> RevocationListError.Code? {
    do throws(RevocationListError) {
      _ = try CertificateRevocationList(der: der).status(of: chain.leaf, issuer: chain.intermediate, at: now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func whatIsListedIsRevokedAndTheRestIsGood() throws {
    let chain = try TestChain()
    var template = Self.template()
    var list = try CertificateRevocationList(
      der: template.sign(issuer: chain.intermediate, key: chain.intermediateKey))
    #expect(list.thisUpdate == Self.now - 3600)
    #expect(list.nextUpdate == Self.now + 3600)
    var status = try list.status(of: chain.leaf, issuer: chain.intermediate, at: Self.now)
    #expect(status == CertificateStatus(.good, thisUpdate: Self.now - 3600, nextUpdate: Self.now + 3600))

    for reason in [CRLReason.superseded, nil] {
      template.entries = [.init(chain.root, revokedAt: 5), .init(chain.leaf, revokedAt: 9, reason: reason)]
      list = try CertificateRevocationList(
        der: template.sign(issuer: chain.intermediate, key: chain.intermediateKey))
      status = try list.status(of: chain.leaf, issuer: chain.intermediate, at: Self.now)
      #expect(status.standing == .revoked(at: 9, reason: reason))
    }
  }

  @Test func onlyTheIssuerMaySignIt() throws {
    let chain = try TestChain()
    let template = Self.template()
    let byRoot = try template.sign(issuer: chain.root, key: chain.rootKey)
    #expect(Self.refusal(chain, byRoot) == .otherIssuer)
    let byImpostor = try template.sign(issuer: chain.intermediate, key: chain.rootKey)
    #expect(Self.refusal(chain, byImpostor) == .badSignature)
    var weak = template
    weak.digest = .sha1
    #expect(try Self.refusal(chain, weak) == .badSignature)
    // By RSA it is accepted, and nothing else of that age.
    let old = try TestChain { try PrivateKey.generateRSA() }
    #expect(try Self.refusal(old, weak) == nil)
    weak.digest = .sha384
    #expect(try Self.refusal(old, weak) == nil)
    let mute = try TestChain(intermediate: { $0.keyUsage = .keyCertSign })
    #expect(try Self.refusal(mute, template) == .otherIssuer)
  }

  @Test func onlyWhatIsOfNowCounts() throws {
    let chain = try TestChain()
    var template = Self.template()
    #expect(try Self.refusal(chain, template, at: Self.now + 3600) == nil)
    #expect(try Self.refusal(chain, template, at: Self.now + 3601) == .stale)
    #expect(try Self.refusal(chain, template, at: Self.now - 3900) == nil)
    #expect(try Self.refusal(chain, template, at: Self.now - 3901) == .notYetValid)
    template.nextUpdate = nil
    #expect(try Self.refusal(chain, template) == .stale)
    template.nextUpdate = template.thisUpdate - 1
    #expect(try Self.refusal(chain, template) == .malformedList)
  }

  @Test func listsOfOtherScopesAreRefused() throws {
    let chain = try TestChain(leaf: { $0.additionalExtensions = [.crlDistributionPoints([Self.url])] })
    var template = Self.template()
    func refusal(_ scope: Certificate.Extension) throws -> RevocationListError.Code? {
      template.extensions = [scope]
      return try Self.refusal(chain, template)
    }
    #expect(try refusal(.issuingDistributionPoint(isIndirect: true)) == .unsupportedList)
    #expect(try refusal(.issuingDistributionPoint(coversAuthoritiesAlone: true)) == .otherScope)
    #expect(try refusal(.issuingDistributionPoint(coversUsersAlone: true)) == nil)
    #expect(try refusal(.issuingDistributionPoint(url: Self.url)) == nil)
    #expect(try refusal(.issuingDistributionPoint(url: Self.url + "2")) == .otherScope)
    let delta = Certificate.Extension(oid: "2.5.29.27", isCritical: true, value: [0x02, 0x01, 0x01])
    #expect(try refusal(delta) == .unsupportedList)
    let unknown = Certificate.Extension(oid: "1.2.3.4", isCritical: true, value: [0x05, 0x00])
    #expect(try refusal(unknown) == .unsupportedExtension)
    let ignorable = Certificate.Extension(oid: "1.2.3.4", isCritical: false, value: [0x05, 0x00])
    #expect(try refusal(ignorable) == nil)
    template.extensions = []
    template.entries = [.init(chain.root, revokedAt: 5)]
    template.entryExtensions = [unknown]
    #expect(try Self.refusal(chain, template) == .unsupportedExtension)
  }

  @Test func aListAboutAnotherIssuersCertificatesSaysNothing() throws {
    let chain = try TestChain()
    let der = try Self.template().sign(issuer: chain.intermediate, key: chain.intermediateKey)
    let list = try CertificateRevocationList(der: der)
    let error = #expect(throws: RevocationListError.self) {
      try list.status(of: chain.intermediate, issuer: chain.intermediate, at: Self.now)
    }
    #expect(error?.code == .otherScope)
  }

  @Test func damageNeverCrashesAndNeverPasses() throws {
    let chain = try TestChain()
    var template = Self.template()
    template.entries = [.init(chain.leaf, revokedAt: 9, reason: .keyCompromise)]
    let der = try template.sign(issuer: chain.intermediate, key: chain.intermediateKey)
    for count in der.indices { #expect(Self.refusal(chain, Array(der[..<count])) != nil) }
    #if ADDRESS_SANITIZER
      // Each costs several; the ordinary run takes all.
      let step = 8
    #else
      let step = 1
    #endif
    for position in stride(from: 0, to: der.count, by: step) {
      for bit in 0..<8 {
        var damaged = der
        damaged[position] ^= 1 << UInt8(bit)
        #expect(Self.refusal(chain, damaged) != nil, "bit \(bit) of byte \(position)")
      }
    }
    #expect(Self.refusal(chain, der + [0]) == .malformedList)
    let long = [UInt8](repeating: 0x30, count: CertificateRevocationList.maximumByteCount + 1)
    #expect(Self.refusal(chain, long) == .tooLarge)
  }
}
