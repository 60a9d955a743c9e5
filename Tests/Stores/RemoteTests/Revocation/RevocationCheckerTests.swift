// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import RemoteChecks
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct RevocationCheckerTests {
  @Test func leafAndIntermediateAreAskedAboutByPost() async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker()
    #expect(await checker.check(try fixture.receipt()) == .confirmed)
    let requests = fixture.requests
    #expect(requests.count == 2)
    for request in requests {
      #expect(request.method == .post)
      #expect(request.url.description == RevocationFixture.url)
      #expect(request.headers.contains(HTTPHeader("Content-Type", "application/ocsp-request")))
    }
    let chain = fixture.identity.chain
    let asked = try requests.map { try ReceivedOCSPRequest(der: $0.body ?? []) }
    #expect(asked.contains { $0.asks(about: chain[0], issuer: chain[1]) })
    #expect(asked.contains { $0.asks(about: chain[1], issuer: chain[2]) })
    #expect(Set(asked.map(\.nonce)).count == 2)
    #expect(checker.name == "ocsp")
  }

  @Test func verdictsRestOnIt() async throws {
    let fixture = try RevocationFixture()
    let jws = Array(try fixture.receipts.signedTransaction().utf8)
    let checker = fixture.checker()
    #expect(await fixture.verifier.verify(jws, checkers: [checker]).receipt != nil)

    fixture.change { $0.revoke(fixture.leaf, at: SampleReceipts.signedAt, reason: .keyCompromise) }
    let refused = await fixture.verifier.verify(jws, checkers: [fixture.checker()])
    #expect(refused.reason?.code == .checkerRefused)

    fixture.failure.withLock { $0 = RemoteResponse(status: 503) }
    let undetermined = await fixture.verifier.verify(jws, checkers: [fixture.checker()])
    #expect(undetermined.reason?.code == .checkerUnavailable)
    guard case .undetermined(let receipt) = undetermined else { return #expect(Bool(false)) }
    #expect(receipt.isRetryable)
  }

  @Test func aRevokedCertificateRefusesAndIsNamed() async throws {
    for index in 0...1 {
      let fixture = try RevocationFixture()
      let certificate = fixture.identity.chain[index]
      fixture.change {
        $0.revoke(certificate, at: Timestamp(secondsSince1970: 1_750_000_000), reason: .superseded)
      }
      let answer = await fixture.checker().check(try fixture.receipt())
      let message = try #require(answer.refusal)
      #expect(message.hasPrefix(index == 0 ? "The leaf certificate" : "The intermediate certificate"))
      #expect(message.contains(certificate.subject))
      #expect(message.contains("2025-06-15T15:06:40Z (superseded)"))
    }
  }

  @Test func aCertificateThatItsIssuerDoesNotKnowRefuses() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.forget(fixture.intermediate) }
    let answer = await fixture.checker().check(try fixture.receipt())
    #expect(answer.refusal?.contains("not known") == true)
  }

  @Test func aDelegateMayAnswer() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.signer = .delegate }
    #expect(await fixture.checker().check(try fixture.receipt()) == .confirmed)
  }

  @Test(arguments: TestRevocationResponder.Flaw.allCases)
  func noFlawedResponseIsAccepted(flaw: TestRevocationResponder.Flaw) async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.flaw = flaw }
    let answer = await fixture.checker().check(try fixture.receipt())
    let code =
      switch flaw {
      case .wrongNonce: "nonce-mismatch"
      case .stale: "stale"
      case .fromTheFuture: "not-yet-valid"
      case .wrongSigner, .weakSignature: "bad-signature"
      case .delegateWithoutUsage, .delegateOfAnother: "untrusted-responder"
      case .otherCertificate: "other-certificate"
      }
    #expect(answer.retryableMessage?.contains(code) == true, "\(answer)")
  }

  @Test func aNonceMayBeMissingUnlessItIsRequired() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.repeatsNonce = false }
    #expect(await fixture.checker().check(try fixture.receipt()) == .confirmed)
    let strict = await fixture.checker { $0.requiresNonce = true }.check(try fixture.receipt())
    #expect(strict.retryableMessage?.contains("nonce-missing") == true)
    #expect(await fixture.checker { $0.sendsNonce = false }.check(try fixture.receipt()) == .confirmed)
  }

  @Test func anUnreachableResponderLeavesTheReceiptUndetermined() async throws {
    let fixture = try RevocationFixture()
    for status in [404, 429, 500, 503] {
      fixture.failure.withLock { $0 = RemoteResponse(status: status) }
      let answer = await fixture.checker().check(try fixture.receipt())
      #expect(answer.retryableMessage?.contains("HTTP \(status)") == true)
    }
    fixture.failure.withLock { $0 = RemoteResponse(status: 200, body: Array("<html>".utf8)) }
    #expect(await fixture.checker().check(try fixture.receipt()).retryableMessage != nil)
    let unauthorized = OCSPResponseTemplate.refusal(.unauthorized)
    fixture.failure.withLock { $0 = RemoteResponse(status: 200, body: unauthorized) }
    #expect(await fixture.checker().check(try fixture.receipt()).terminalMessage != nil)
    // Busy is asked again.
    let busy = OCSPResponseTemplate.refusal(.tryLater)
    fixture.failure.withLock { $0 = RemoteResponse(status: 200, body: busy) }
    let before = fixture.requests.count
    #expect(await fixture.checker().check(try fixture.receipt()).retryableMessage != nil)
    #expect(fixture.requests.count == before + 4)
  }

  @Test func aSoftFailurePassesAndIsNoted() async throws {
    let fixture = try RevocationFixture()
    fixture.failure.withLock { $0 = RemoteResponse(status: 503) }
    let noted = NoteBox()
    let checker = fixture.checker {
      $0.unreachable = .softFailure
      $0.report = { note in noted.notes.withLock { $0.append(note) } }
    }
    #expect(await checker.check(try fixture.receipt()).note?.contains("could not be checked") == true)
    let notes = noted.notes.withLock { $0 }
    #expect(Set(notes.map(\.subject)) == [.softFailure])
    #expect(Set(notes.map(\.certificate)) == Set(fixture.identity.chain.prefix(2)))
    // It never hides a revocation.
    fixture.failure.withLock { $0 = nil }
    fixture.change { $0.revoke(fixture.leaf, at: SampleReceipts.signedAt, reason: nil) }
    let other = fixture.checker { $0.unreachable = .softFailure }
    #expect(await other.check(try fixture.receipt()).refusal != nil)
  }

  @Test func withoutAPointerTheOptionDecides() async throws {
    let fixture = try RevocationFixture(ocspURL: nil)
    let noted = NoteBox()
    let checker = fixture.checker { $0.report = { note in noted.notes.withLock { $0.append(note) } } }
    #expect(await checker.check(try fixture.receipt()) == .confirmed)
    #expect(noted.notes.withLock { $0.map(\.subject) } == [.noPointer, .noPointer])
    #expect(fixture.requests.isEmpty)
    let strict = await fixture.checker { $0.noPointer = .refuse }.check(try fixture.receipt())
    #expect(strict.refusal?.contains("leaf") == true)
    // A responder that is configured serves for all.
    let url = try RemoteURL("http://127.0.0.1:8080/ocsp")
    #expect(await fixture.checker { $0.responderURL = url }.check(try fixture.receipt()) == .confirmed)
    #expect(fixture.requests.allSatisfy { $0.url == url } && fixture.requests.count == 2)
  }

  @Test func aRevocationAfterSigningStandsOnlyByNameAndForABenignReason() async throws {
    let later = SampleReceipts.signedAt.addingSeconds(30)
    let cases: [(CRLReason?, Timestamp, stands: Bool)] = [
      (.superseded, later, true), (.cessationOfOperation, later, true), (.affiliationChanged, later, true),
      (.keyCompromise, later, false), (.cACompromise, later, false), (.certificateHold, later, false),
      (.unspecified, later, false), (nil, later, false), (.superseded, SampleReceipts.signedAt, false),
    ]
    for (reason, instant, stands) in cases {
      let fixture = try RevocationFixture()
      fixture.change { $0.revoke(fixture.leaf, at: instant, reason: reason) }
      #expect(await fixture.checker().check(try fixture.receipt()).refusal != nil)
      let lenient = fixture.checker { $0.revoked = .acceptSignedBeforeBenignRevocation }
      let answer = await lenient.check(try fixture.receipt())
      #expect(
        (answer.note?.contains("was revoked") == true) == stands,
        "\(String(describing: reason)) at \(instant.iso8601)")
      // Each receipt by its own time, from the same answer.
      let young = try fixture.receipt { $0.signedDate = later.addingSeconds(1) }
      #expect(await lenient.check(young).refusal != nil)
      #expect(fixture.requests.count == 4)
    }
  }

  @Test func listsThatAreGivenAreReadInPlaceOfAnyRequest() async throws {
    let fixture = try RevocationFixture()
    let authority = try TestAuthority.es256()
    var issuer = TestRevocationResponder(authority, chain: fixture.identity.chain)
    let root = try issuer.list(of: fixture.identity.chain[2], at: fixture.time.now)
    let good = try issuer.list(of: fixture.intermediate, at: fixture.time.now)
    func checker(_ lists: [[UInt8]]) throws -> RevocationChecker {
      try RevocationChecker(lists: lists, time: fixture.time.remoteTime)
    }
    let receipt = try fixture.receipt()
    #expect(try await checker([root, good]).check(receipt) == .confirmed)
    #expect(try checker([]).name == "crl")
    // Every issuer needs its list.
    for lists in [[], [root], [good]] {
      let answer = try await checker(lists).check(receipt)
      #expect(answer.terminalMessage?.contains("There is no list of") == true, "\(answer)")
    }
    issuer.revoke(fixture.leaf, at: fixture.time.now, reason: .superseded)
    let revoked = try issuer.list(of: fixture.intermediate, at: fixture.time.now.addingSeconds(1))
    // The newest counts, in any order.
    for lists in [[root, good, revoked], [revoked, root, good]] {
      #expect(try await checker(lists).check(receipt).refusal?.contains("superseded") == true)
    }
    for (flaw, reason) in [
      (TestRevocationResponder.Flaw.stale, "stale"), (.fromTheFuture, "not-yet-valid"),
      (.wrongSigner, "bad-signature"),
    ] {
      issuer.flaw = flaw
      let flawed = try issuer.list(of: fixture.intermediate, at: fixture.time.now)
      let answer = try await checker([root, flawed]).check(receipt)
      #expect(answer.terminalMessage?.contains(reason) == true, "\(answer)")
    }
    #expect(throws: CryptoError.self) { try checker([root, Array(good.dropLast())]) }
    #expect(fixture.requests.isEmpty)
  }

  @Test func listsServeWhereThereIsNoResponder() async throws {
    let fixture = try RevocationFixture(
      ocspURL: nil, crlURL: RevocationFixture.listURL, rootCRLURL: RevocationFixture.rootListURL)
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    for _ in 0..<10 { #expect(await checker.check(receipt) == .confirmed) }
    #expect(
      Set(fixture.requests.map(\.url.description))
        == [RevocationFixture.listURL, RevocationFixture.rootListURL])
    #expect(fixture.requests.count == 2)
    #expect(fixture.requests.allSatisfy { $0.method == .get && $0.body == nil })

    fixture.change { $0.revoke(fixture.intermediate, at: SampleReceipts.signedAt, reason: .keyCompromise) }
    let revoked = await fixture.checker().check(receipt)
    #expect(revoked.refusal?.contains("keyCompromise") == true)
  }

  @Test func listsOfOthersAndOldListsAreNotAccepted() async throws {
    let fixture = try RevocationFixture(
      ocspURL: nil, crlURL: RevocationFixture.rootListURL, rootCRLURL: RevocationFixture.rootListURL)
    let answer = await fixture.checker().check(try fixture.receipt())
    #expect(answer.retryableMessage?.contains("other-issuer") == true)

    let other = try RevocationFixture(
      ocspURL: nil, crlURL: RevocationFixture.listURL, rootCRLURL: RevocationFixture.rootListURL)
    let flaws: [(TestRevocationResponder.Flaw, String)] = [
      (.stale, "stale"), (.fromTheFuture, "not-yet-valid"), (.wrongSigner, "bad-signature"),
      (.weakSignature, "bad-signature"),
    ]
    for (flaw, code) in flaws {
      other.change { $0.flaw = flaw }
      let answer = await other.checker().check(try other.receipt())
      #expect(answer.retryableMessage?.contains(code) == true)
    }
  }

  @Test func theRespondersOfANotificationsPartsAreAskedOnce() async throws {
    let fixture = try RevocationFixture()
    let notification = try fixture.notification()
    #expect(notification.nested.count == 2)
    let checker = fixture.checker()
    #expect(await checker.check(notification) == .confirmed)
    #expect(fixture.requests.count == 2)
  }

  @Test func expiredCertificatesAreCheckedUnlessTheOptionAcceptsThem() async throws {
    let fixture = try RevocationFixture()
    let receipt = try fixture.receipt()
    // To 2055: the leaf ended in 2049, the intermediate in 2054.
    fixture.time.advance(by: .seconds(30 * 366 * 86_400))
    fixture.change { $0.forget(fixture.leaf) }
    let asked = await fixture.checker().check(receipt)
    #expect(asked.terminalMessage?.contains("has expired") == true)
    let lenient = fixture.checker { $0.expired = .accept }
    let before = fixture.requests.count
    #expect(await lenient.check(receipt).note?.contains("has expired") == true)
    #expect(fixture.requests.count == before)
  }
}
