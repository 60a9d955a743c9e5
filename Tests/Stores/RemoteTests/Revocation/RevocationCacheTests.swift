// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import RemoteChecks
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct RevocationCacheTests {
  @Test func answersAreKeptUntilTheNextUpdate() async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    for _ in 0..<100 { #expect(await checker.check(receipt) == .confirmed) }
    #expect(fixture.requests.count == 2)
    #expect(checker.cachedCount == 2)
    fixture.time.advance(by: .seconds(3602))
    #expect(await checker.check(receipt) == .confirmed)
    #expect(fixture.requests.count == 4)
  }

  @Test func aRevocationIsKeptToo() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.revoke(fixture.leaf, at: SampleReceipts.signedAt, reason: nil) }
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    for _ in 0..<10 { #expect(await checker.check(receipt).refusal != nil) }
    #expect(fixture.requests.count == 2)
  }

  @Test func theStatusUnknownIsCachedForFiveMinutesAlone() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.forget(fixture.leaf) }
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    #expect(await checker.check(receipt).refusal?.contains("not known") == true)
    // Renewal in the background begins after 80 % of the five minutes.
    fixture.time.advance(by: .seconds(239))
    #expect(await checker.check(receipt).refusal?.contains("not known") == true)
    #expect(fixture.requests.count == 2)
    let authority = try TestAuthority.es256()
    fixture.change { $0 = TestRevocationResponder(authority, chain: fixture.identity.chain) }
    fixture.time.advance(by: .seconds(62))
    #expect(await checker.check(receipt) == .confirmed)
    // The intermediate's status, "good", is still cached.
    #expect(fixture.requests.count == 3)
  }

  @Test func theSameSerialNumberUnderAnotherIssuerIsAnotherCertificate() async throws {
    let fixture = try RevocationFixture()
    let authority = try TestAuthority.es256()
    let identity = try authority.identity(
      ocspURL: RevocationFixture.url, serialNumber: fixture.intermediate.serialNumber)
    #expect(identity.chain[0].serialNumber == identity.chain[1].serialNumber)
    fixture.change { $0 = TestRevocationResponder(authority, chain: identity.chain) }
    let jws = try TestReceipts(jws: identity, rsa: TestAuthority.rsa().identity).signedTransaction()
    let checker = fixture.checker()
    #expect(await checker.check(try fixture.verified(jws)) == .confirmed)
    #expect(fixture.requests.count == 2)
    #expect(checker.cachedCount == 2)
  }

  @Test func anAnswerAboutOneCertificateIsNoneAboutAnotherOfTheSameIssuer() async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker()
    #expect(await checker.check(try fixture.receipt()) == .confirmed)

    let authority = try TestAuthority.es256()
    var template = authority.authority.options.leafTemplate
    template.serialNumber = [0x78]
    template.additionalExtensions = [.authorityInformationAccess(ocspURLs: [RevocationFixture.url])]
    let key = fixture.identity.privateKey
    let leaf = try CertificateAuthority.issue(
      template, for: key.publicKey,
      by: .authority(fixture.intermediate, authority.authority.intermediate.privateKey))
    let other = try SigningIdentity(
      privateKey: key, chain: [leaf, fixture.intermediate, fixture.identity.chain[2]])
    fixture.change {
      $0 = TestRevocationResponder(authority, chain: other.chain)
      $0.revoke(leaf, at: SampleReceipts.signedAt, reason: .keyCompromise)
    }
    let jws = try TestReceipts(jws: other, rsa: TestAuthority.rsa().identity).signedTransaction()
    #expect(await checker.check(try fixture.verified(jws)).refusal?.contains("keyCompromise") == true)
    // The intermediate's answer serves for both.
    #expect(fixture.requests.count == 3)
  }

  @Test func aPartOfAnotherSignerIsCheckedThoughTheSignerOfTheNotificationIsKnown() async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker()
    #expect(await checker.check(try fixture.receipt()) == .confirmed)
    #expect(fixture.requests.count == 2)

    let authority = try TestAuthority.es256()
    let other = try authority.identity(ocspURL: RevocationFixture.url, serialNumber: [0x77])
    fixture.change {
      $0 = TestRevocationResponder(authority, chain: other.chain)
      $0.revoke(other.chain[0], at: SampleReceipts.signedAt, reason: .keyCompromise)
    }
    let part = try TestReceipts(jws: other, rsa: TestAuthority.rsa().identity).signedTransaction()
    let notification = try fixture.verified(
      fixture.receipts.signedNotification {
        $0.data?.signedTransactionInfo = part
        $0.data?.signedRenewalInfo = nil
      })
    #expect(notification.nested.count == 1)
    #expect(await checker.check(notification).refusal?.contains("keyCompromise") == true)
  }

  @Test func noAnswerIsKeptForLongerThanTheLimit() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.lifetime = 365 * 86_400 }
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    _ = await checker.check(receipt)
    fixture.time.advance(by: .seconds(7 * 86_400 + 1))
    _ = await checker.check(receipt)
    #expect(fixture.requests.count == 4)
  }

  @Test func withoutANextUpdateNothingIsKept() async throws {
    let fixture = try RevocationFixture()
    fixture.change { $0.lifetime = nil }
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    for _ in 0..<3 { #expect(await checker.check(receipt) == .confirmed) }
    #expect(fixture.requests.count == 6)
    #expect(checker.cachedCount == 0)
  }

  @Test func anAnswerIsRenewedInTheBackgroundBeforeItExpires() async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    _ = await checker.check(receipt)
    fixture.time.advance(by: .seconds(2900))
    fixture.gate.close()
    // All of these return while the requests hang, and begin no more than one for each certificate.
    for _ in 0..<50 { #expect(await checker.check(receipt) == .confirmed) }
    #expect(await eventually { fixture.requests.count == 4 })
    #expect(checker.requestCount == 2)
    fixture.change { $0.revoke(fixture.leaf, at: SampleReceipts.signedAt, reason: .keyCompromise) }
    fixture.gate.open()
    #expect(await eventually { checker.requestCount == 0 })
    // The renewed answer counts at once.
    #expect(await checker.check(receipt).refusal != nil)
    #expect(fixture.requests.count == 4)
  }

  @Test func aFailedRenewalLeavesTheAnswerUntilItExpires() async throws {
    let fixture = try RevocationFixture()
    let noted = NoteBox()
    let checker = fixture.checker {
      $0.report = { note in noted.notes.withLock { $0.append(note) } }
      $0.retryPolicy = .once(within: .seconds(1))
    }
    let receipt = try fixture.receipt()
    _ = await checker.check(receipt)
    fixture.failure.withLock { $0 = RemoteResponse(status: 503) }
    fixture.time.advance(by: .seconds(2900))
    #expect(await checker.check(receipt) == .confirmed)
    #expect(await eventually { noted.notes.withLock { $0.count } == 2 })
    #expect(noted.notes.withLock { $0.allSatisfy { $0.subject == .refreshFailed } })
    for _ in 0..<10 { #expect(await checker.check(receipt) == .confirmed) }
    #expect(fixture.requests.count == 4)
    fixture.time.advance(by: .seconds(702))
    #expect(await checker.check(receipt).retryableMessage != nil)
  }

  @Test func aThousandAtOnceMakeOneRequestForEachCertificate() async throws {
    let fixture = try RevocationFixture(isOpen: false)
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    async let opening: Void = {
      _ = await eventually { fixture.gate.waitingCount == 2 }
      fixture.gate.open()
    }()
    let confirmed = await withTaskGroup(of: CheckerAnswer.self) { group in
      for _ in 0..<1_000 { group.addTask { await checker.check(receipt) } }
      return await group.reduce(into: 0) { $0 += $1 == .confirmed ? 1 : 0 }
    }
    await opening
    #expect(confirmed == 1_000)
    #expect(fixture.requests.count == 2)
    #expect(checker.requestCount == 0)
  }

  @Test func aCancelledCheckReturnsAtOnceAndDisturbsNoOther() async throws {
    let fixture = try RevocationFixture(isOpen: false)
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    let cancelled = Task { await checker.check(receipt) }
    let other = Task { await checker.check(receipt) }
    #expect(await eventually { fixture.gate.waitingCount == 2 })
    cancelled.cancel()
    // The gate is still closed: it did not wait for the answer.
    #expect(await cancelled.value.retryableMessage?.contains("cancelled") == true)
    #expect(checker.requestCount == 2)
    fixture.gate.open()
    #expect(await other.value == .confirmed)
    #expect(fixture.requests.count == 2)
  }

  @Test func aCancelledCheckIsNoSoftFailure() async throws {
    let fixture = try RevocationFixture(isOpen: false)
    let checker = fixture.checker { $0.unreachable = .softFailure }
    let receipt = try fixture.receipt()
    let cancelled = Task { await checker.check(receipt) }
    #expect(await eventually { fixture.gate.waitingCount == 2 })
    cancelled.cancel()
    let answer = await cancelled.value
    #expect(answer.retryableMessage?.contains("cancelled") == true, "\(answer)")
    fixture.gate.open()
    #expect(await checker.check(receipt) == .confirmed)
  }

  @Test func failuresAreHeldForAMoment() async throws {
    let fixture = try RevocationFixture()
    fixture.failure.withLock { $0 = RemoteResponse(status: 404) }
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    for _ in 0..<100 { #expect(await checker.check(receipt).retryableMessage != nil) }
    #expect(fixture.requests.count == 2)
    fixture.failure.withLock { $0 = nil }
    fixture.time.advance(by: .seconds(6))
    #expect(await checker.check(receipt) == .confirmed)
    #expect(fixture.requests.count == 4)
  }

  @Test func withoutAHoldEveryCheckAsks() async throws {
    let fixture = try RevocationFixture()
    fixture.failure.withLock { $0 = RemoteResponse(status: 404) }
    let checker = fixture.checker { $0.failureHold = .zero }
    let receipt = try fixture.receipt()
    for _ in 0..<3 { _ = await checker.check(receipt) }
    #expect(fixture.requests.count == 6)
  }

  @Test func theCacheIsBounded() async throws {
    let fixture = try RevocationFixture()
    let authority = try TestAuthority.es256()
    let checker = fixture.checker()
    _ = await checker.check(try fixture.receipt())
    for number in 0..<300 {
      let identity = try authority.identity(
        ocspURL: RevocationFixture.url, serialNumber: [0x20, UInt8(number >> 8), UInt8(number & 0xFF)])
      fixture.change { $0 = TestRevocationResponder(authority, chain: identity.chain) }
      let jws = try TestReceipts(jws: identity, rsa: TestAuthority.rsa().identity).signedTransaction()
      guard let receipt = fixture.verifier.verify(jws).receipt else { throw RevocationFixture.NotValid() }
      #expect(await checker.check(receipt) == .confirmed)
    }
    #expect(checker.cachedCount == 256)
    #expect(checker.requestCount == 0)
  }

  @Test(arguments: [RevocationOptions.UnreachableRule.hardFailure, .softFailure])
  func afterShutdownNoCheckSucceeds(unreachable: RevocationOptions.UnreachableRule) async throws {
    let fixture = try RevocationFixture()
    let checker = fixture.checker { $0.unreachable = unreachable }
    let receipt = try fixture.receipt()
    #expect(await checker.check(receipt) == .confirmed)
    await checker.shutdown()
    #expect(await checker.check(receipt).terminalMessage?.contains("shut down") == true)
  }

  @Test func shuttingDownEndsEverything() async throws {
    let fixture = try RevocationFixture(isOpen: false)
    let checker = fixture.checker()
    let receipt = try fixture.receipt()
    let waiting = Task { await checker.check(receipt) }
    #expect(await eventually { fixture.gate.waitingCount == 2 })
    let shutdown = Task { await checker.shutdown() }
    fixture.gate.open()
    await shutdown.value
    #expect(checker.requestCount == 0)
    #expect(checker.cachedCount == 0)
    _ = await waiting.value
    let count = fixture.requests.count
    #expect(await checker.check(receipt).terminalMessage?.contains("shut down") == true)
    #expect(fixture.requests.count == count)
  }
}
