// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@Suite struct OCSPResponseTests {
  private typealias Fixture = RevocationFixture

  @Test(arguments: [
    CertificateStatus.Standing.good, .unknown, .revoked(at: 1_650_000_000, reason: .keyCompromise),
    .revoked(at: 1_650_000_000, reason: nil),
  ])
  func whatTheIssuerSaysIsRead(standing: CertificateStatus.Standing) throws {
    let fixture = try Fixture()
    let status = try fixture.status(in: fixture.template(standing).sign())
    #expect(
      status
        == CertificateStatus(
          standing, thisUpdate: Fixture.now - Fixture.oneHour, nextUpdate: Fixture.now + Fixture.oneHour))
  }

  @Test func rsaResponsesAndEveryHashOfTheIdentifierAreRead() throws {
    let fixture = try Fixture { try PrivateKey.generateRSA() }
    for hash in DigestAlgorithm.allCases {
      var template = fixture.template()
      template.answers[0].hash = hash
      #expect(try fixture.status(in: template.sign()).standing == .good)
    }
  }

  @Test func aResponderThatTheIssuerCertifiedForOCSPMayAnswer() throws {
    let fixture = try Fixture()
    let template = fixture.template(by: try fixture.delegate())
    #expect(try fixture.status(in: template.sign()).standing == .good)
  }

  @Test func respondersAreFoundByTheHashOfTheirKeyToo() throws {
    for fixture in [try Fixture(), try Fixture { try PrivateKey.generateRSA() }] {
      var template = fixture.template()
      template.namesKey = true
      #expect(try fixture.status(in: template.sign()).standing == .good)
      template = fixture.template(by: try fixture.delegate())
      template.namesKey = true
      #expect(try fixture.status(in: template.sign()).standing == .good)
      // The issuer's key is named, and another one signs.
      template = fixture.template()
      template.namesKey = true
      template.key = fixture.delegateKey
      #expect(fixture.refusal(of: try template.sign()) == .badSignature)
    }
  }

  @Test func nobodyElseMayAnswer() throws {
    let fixture = try Fixture()
    let chain = fixture.chain
    let withoutUsage = try fixture.delegate { $0.extendedKeyUsages = [] }
    let forEverything = try fixture.delegate { $0.extendedKeyUsages = ["2.5.29.37.0"] }
    let forTLS = try fixture.delegate { $0.extendedKeyUsages = ["1.3.6.1.5.5.7.3.1"] }
    let withoutSigning = try fixture.delegate { $0.keyUsage = .keyEncipherment }
    let expired = try fixture.delegate { $0.notAfter = Fixture.now - 1 }
    let early = try fixture.delegate { $0.notBefore = Fixture.now + 1 }
    let weak = try fixture.delegate { $0.digest = .sha1 }
    let unknownExtension = try fixture.delegate {
      $0.additionalExtensions = [Certificate.Extension(oid: "1.2.3.4", isCritical: true, value: [5, 0])]
    }
    let ofTheRoot = try fixture.delegate(of: .authority(chain.root, chain.rootKey))
    let ofItself = try fixture.delegate(of: .itself(fixture.delegateKey))
    let foreign = try Fixture()
    let ofAStranger = try fixture.delegate(
      of: .authority(foreign.chain.intermediate, foreign.chain.intermediateKey))
    let flawed = [
      withoutUsage, forEverything, forTLS, withoutSigning, expired, early, weak, unknownExtension, ofTheRoot,
      ofItself, ofAStranger,
    ]
    for delegate in flawed {
      let response = try fixture.template(by: delegate).sign()
      #expect(fixture.refusal(of: response) == .untrustedResponder, "\(delegate.extensions)")
    }
    // The root stands above the issuer, and still is not it.
    var byRoot = fixture.template()
    byRoot.signer = chain.root
    byRoot.key = chain.rootKey
    #expect(fixture.refusal(of: try byRoot.sign()) == .untrustedResponder)
    byRoot.includesSigner = true
    #expect(fixture.refusal(of: try byRoot.sign()) == .untrustedResponder)
    // The leaf about itself.
    var byLeaf = byRoot
    byLeaf.signer = chain.leaf
    byLeaf.key = chain.leafKey
    #expect(fixture.refusal(of: try byLeaf.sign()) == .untrustedResponder)
    // Of a delegate that is not in the response nothing is known.
    var absent = fixture.template(by: try fixture.delegate())
    absent.includesSigner = false
    #expect(fixture.refusal(of: try absent.sign()) == .untrustedResponder)
    // Another issuer with the same name.
    var impostor = fixture.template()
    impostor.signer = foreign.chain.intermediate
    impostor.key = foreign.chain.intermediateKey
    #expect(fixture.refusal(of: try impostor.sign()) == .badSignature)
  }

  @Test func weakSignaturesAreRefused() throws {
    let fixture = try Fixture()
    var template = fixture.template()
    template.digest = .sha1
    #expect(fixture.refusal(of: try template.sign()) == .badSignature)
  }

  @Test func anAnswerAboutAnotherCertificateIsNone() throws {
    let fixture = try Fixture()
    var template = fixture.template()
    template.answers[0].certificate = fixture.chain.intermediate
    #expect(fixture.refusal(of: try template.sign()) == .otherCertificate)
    // The same serial number, of another issuer.
    template = fixture.template()
    template.answers[0].issuer = fixture.chain.root
    #expect(fixture.refusal(of: try template.sign()) == .otherCertificate)
    // Good and revoked at once.
    template = fixture.template()
    template.answers.append(fixture.answer(.revoked(at: 0, reason: nil)))
    template.answers[1].hash = .sha256
    #expect(fixture.refusal(of: try template.sign()) == .otherCertificate)
    template.answers = []
    #expect(fixture.refusal(of: try template.sign()) == .otherCertificate)
    // Beside answers about others its own is found.
    template.answers = [fixture.answer(.unknown), fixture.answer()]
    template.answers[0].certificate = fixture.chain.intermediate
    #expect(try fixture.status(in: template.sign()).standing == .good)
    template.answers = Array(repeating: template.answers[0], count: 65)
    #expect(fixture.refusal(of: try template.sign()) == .malformedResponse)
  }

  @Test func aNonceMustBeTheRequests() throws {
    let fixture = try Fixture()
    var template = fixture.template()
    template.nonce?[0] ^= 1
    #expect(fixture.refusal(of: try template.sign()) == .nonceMismatch)
    template.nonce = Array(fixture.nonce.dropLast())
    #expect(fixture.refusal(of: try template.sign()) == .nonceMismatch)
    template.nonce = nil
    #expect(fixture.refusal(of: try template.sign()) == nil)
    #expect(fixture.refusal(of: try template.sign(), requiresNonce: true) == .nonceMissing)
    #expect(fixture.refusal(of: try fixture.template().sign(), requiresNonce: true) == nil)
  }

  @Test func onlyWhatIsOfNowCounts() throws {
    let fixture = try Fixture()
    let response = try fixture.template().sign()
    let (first, last) = (Fixture.now - Fixture.oneHour, Fixture.now + Fixture.oneHour)
    #expect(fixture.refusal(of: response, at: last) == nil)
    #expect(fixture.refusal(of: response, at: last + 1) == .stale)
    #expect(fixture.refusal(of: response, at: first - 300) == nil)
    #expect(fixture.refusal(of: response, at: first - 301) == .notYetValid)
    #expect(fixture.refusal(of: response, at: .min) == .notYetValid)
    #expect(fixture.refusal(of: response, at: .max) == .stale)

    var template = fixture.template()
    template.answers[0].nextUpdate = nil
    let open = try template.sign()
    #expect(try fixture.status(in: open).nextUpdate == nil)
    #expect(fixture.refusal(of: open, at: first + 86_400) == nil)
    #expect(fixture.refusal(of: open, at: first + 86_401) == .stale)

    template.answers[0].nextUpdate = first - 1
    #expect(fixture.refusal(of: try template.sign()) == .malformedResponse)
  }

  @Test(arguments: [
    OCSPError.Code.malformedRequest, .internalError, .tryLater, .signatureRequired, .unauthorized,
  ])
  func eachRefusalOfTheResponderHasItsCode(code: OCSPError.Code) throws {
    let response = OCSPResponseTemplate.refusal(code)
    let error = #expect(throws: OCSPError.self) { try OCSPResponse(der: response) }
    #expect(error?.code == code)
    #expect(error?.isRetryable == (code == .tryLater || code == .internalError))
  }

  @Test func anythingElseIsMalformed() throws {
    func code(_ der: [UInt8]) -> OCSPError.Code? {
      do throws(OCSPError) {
        _ = try OCSPResponse(der: der)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code([]) == .malformedResponse)
    #expect(code([0x30, 0x00]) == .malformedResponse)
    #expect(code(Array("<html>busy</html>".utf8)) == .malformedResponse)
    #expect(code([0x30, 0x03, 0x0A, 0x01, 0x04]) == .unknownResponseStatus)
    #expect(code([UInt8](repeating: 0x30, count: OCSPResponse.maximumByteCount + 1)) == .tooLarge)
    let fixture = try Fixture()
    #expect(code(try fixture.template().sign() + [0]) == .malformedResponse)
    // Successful, and nothing in it.
    #expect(fixture.refusal(of: [0x30, 0x03, 0x0A, 0x01, 0x00]) == .malformedResponse)
  }

  @Test func damageNeverCrashesAndNeverPasses() throws {
    let fixture = try Fixture()
    for template in [fixture.template(), fixture.template(by: try fixture.delegate())] {
      let response = try template.sign()
      for count in response.indices { #expect(fixture.refusal(of: Array(response[..<count])) != nil) }
      var generator = SplitMix(state: 1)
      var passed = 0
      for position in response.indices {
        for _ in 0..<4 {
          var damaged = response
          damaged[position] ^= UInt8(truncatingIfNeeded: generator.next() % 255 + 1)
          // A damaged response passes only if no signature covers the damaged byte: it is in the unsigned parameters,
          // or in the encoding of the delegate's own certificate. It then states the same as the whole response.
          if let status = try? fixture.status(in: damaged) {
            passed += 1
            #expect(status == (try fixture.status(in: response)))
          }
        }
      }
      #expect(passed < response.count / 10)
      for _ in 0..<2_000 {
        var damaged = response
        for _ in 0...generator.next() % 8 {
          damaged[Int(generator.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: generator.next())
        }
        _ = fixture.refusal(of: damaged)
      }
    }
  }
}

/// Random numbers that are the same in every run.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
