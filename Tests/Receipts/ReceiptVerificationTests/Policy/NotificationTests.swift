// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// The signed parts of a notification: verified, and compared with it.
@Suite struct NotificationTests {
  private static let transactionPlace = "$.data.signedTransactionInfo"
  private static let renewalPlace = "$.data.signedRenewalInfo"
  private static let appPlace = "$.appData.signedAppTransactionInfo"

  private func verdict(
    _ policy: (inout VerificationPolicy) -> Void = { _ in }, _ change: (inout Notification) throws -> Void
  ) throws -> Verdict {
    var notification = SampleReceipts.notification
    notification.data?.signedTransactionInfo = try Fixture.receipts.signedTransaction()
    notification.data?.signedRenewalInfo = try Fixture.receipts.signedRenewalInfo()
    try change(&notification)
    let receipt = try JWSSigner(identity: Fixture.es256.identity).sign(.notification(notification))
    return try Fixture.verifier(policy).verify(receipt)
  }

  /// A notification around the given app transaction.
  private func appNotification(_ change: (inout AppTransaction) -> Void) throws -> Verdict {
    let signed = try Fixture.receipts.signedAppTransaction(change)
    return try verdict {
      $0.data = nil
      $0.appData = NotificationAppData().with {
        $0.appAppleId = SampleReceipts.appAppleId
        $0.bundleId = SampleReceipts.bundleId
        $0.environment = .sandbox
        $0.signedAppTransactionInfo = signed
      }
    }
  }

  @Test("a notification reports its parts, verified, and the transaction among them")
  func valid() throws {
    let receipt = try #require(expectValid(try verdict { _ in }))
    #expect(receipt.nested.map(\.kind) == [.signedTransaction, .signedRenewalInfo])
    #expect(receipt.transactions == [SampleReceipts.transaction.transaction])
    #expect(receipt.signedAt == SampleReceipts.signedAt)
    let app = try #require(expectValid(try appNotification { _ in }))
    #expect(app.nested.map(\.kind) == [.signedAppTransaction])
    #expect(app.transactions == [])
  }

  @Test("a notification without parts is valid too")
  func withoutParts() throws {
    let receipt = expectValid(
      try verdict {
        $0.data?.signedTransactionInfo = nil
        $0.data?.signedRenewalInfo = nil
      })
    #expect(receipt?.nested == [])
    #expect(receipt?.transactions == [])
  }

  @Test("a part with a byte changed is refused, at its place")
  func tamperedPart() throws {
    let signed = Array(try Fixture.receipts.signedTransaction().utf8)
    var other = SampleReceipts.transaction
    other.productId = "com.example.app.yearly"
    let tampered = try ForgedJWS.replacingPayload(of: signed, with: JWSPayload.transaction(other).encoded())
    expectInvalid(
      try verdict { $0.data?.signedTransactionInfo = String(decoding: tampered, as: UTF8.self) },
      .signatureMismatch, at: "\(Self.transactionPlace), JWS signature")
    expectInvalid(
      try verdict { $0.data?.signedRenewalInfo = "e30.e30" }, .malformed,
      at: "\(Self.renewalPlace), byte 7 of the JWS")
    expectInvalid(
      try verdict { $0.data?.signedRenewalInfo = "" }, .malformed,
      at: "\(Self.renewalPlace), byte 0 of the JWS")
  }

  @Test("a part under a chain of its own that is not trusted is refused, at its place")
  func untrustedPart() throws {
    for (flaw, code, place) in [
      (TestAuthority.Flaw.foreignRoot, ReasonCode.chainUntrusted, "certificate 2"),
      (.leafWithoutMarker, .certificatePurpose, "certificate 0"),
    ] {
      let identity = try Fixture.es256.identity(flaw)
      let part = try Fixture.Container.jws.signed(by: identity)
      expectInvalid(
        try verdict { $0.data?.signedTransactionInfo = String(decoding: part, as: UTF8.self) }, code,
        at: "\(Self.transactionPlace), \(place)")
    }
  }

  @Test("a part signed with Xcode's certificate is refused inside a notification of the store")
  func selfSignedPart() throws {
    let part = try SelfSignedTestData().sign(.transaction(SampleReceipts.transaction))
    expectInvalid(
      try verdict { $0.data?.signedTransactionInfo = part }, .chainLength,
      at: "\(Self.transactionPlace), $.x5c of the JWS header")
  }

  @Test("a part of another kind than its place promises is refused")
  func swappedParts() throws {
    let receipts = try Fixture.receipts
    let renewalInfo = try receipts.signedRenewalInfo()
    let transaction = try receipts.signedTransaction()
    let notification = try receipts.signedNotification()
    for (transactionInfo, renewal, place) in [
      (renewalInfo, renewalInfo, Self.transactionPlace), (transaction, transaction, Self.renewalPlace),
      (notification, renewalInfo, Self.transactionPlace),
    ] {
      expectInvalid(
        try verdict {
          $0.data?.signedTransactionInfo = transactionInfo
          $0.data?.signedRenewalInfo = renewal
        }, .nestedMismatch, at: place)
    }
  }

  @Test("a part of another app, environment or purchase than the notification's is refused")
  func disagreement() throws {
    let receipts = try Fixture.receipts
    func policy(_ policy: inout VerificationPolicy) {
      policy.bundleIds = .any
      policy.environments = [.production, .sandbox]
    }
    for change in [
      { (transaction: inout JWSTransaction) in transaction.bundleId = "com.example.other" },
      { $0.environment = .production },
    ] {
      let part = try receipts.signedTransaction(change)
      expectInvalid(
        try verdict(policy) { $0.data?.signedTransactionInfo = part }, .nestedMismatch,
        at: Self.transactionPlace)
    }
    let renewalInfo = try receipts.signedRenewalInfo { $0.environment = .production }
    expectInvalid(
      try verdict(policy) { $0.data?.signedRenewalInfo = renewalInfo }, .nestedMismatch,
      at: Self.renewalPlace)
    let otherLine = try receipts.signedRenewalInfo { $0.originalTransactionId = "2000000009" }
    expectInvalid(
      try verdict(policy) { $0.data?.signedRenewalInfo = otherLine }, .nestedMismatch,
      at: Self.renewalPlace)
    expectInvalid(try appNotification { $0.appAppleId = 1 }, .nestedMismatch, at: Self.appPlace)
  }

  @Test("a part counts by the environment that it states itself, not by the notification's")
  func environmentOfPart() throws {
    let part = try Fixture.receipts.signedTransaction { $0.environment = .sandbox }
    expectInvalid(
      try verdict {
        $0.environments = [.production]
      } _: {
        $0.data?.environment = .production
        $0.data?.signedTransactionInfo = part
      }, .wrongEnvironment, at: Self.transactionPlace)
  }

  @Test("what the notification leaves out, its parts must still agree on")
  func disagreementOfParts() throws {
    let renewalInfo = try Fixture.receipts.signedRenewalInfo { $0.environment = .production }
    expectInvalid(
      try verdict {
        $0.environments = [.production, .sandbox]
      } _: {
        $0.data?.environment = nil
        $0.data?.signedRenewalInfo = renewalInfo
      }, .nestedMismatch, at: Self.renewalPlace)
  }

  @Test("a part's bundle identifier agrees byte for byte or not at all")
  func canonicalEquivalence() throws {
    let part = try Fixture.receipts.signedTransaction { $0.bundleId = "com.example.cafe\u{301}" }
    expectInvalid(
      try verdict {
        $0.bundleIds = .any
      } _: {
        $0.data?.bundleId = "com.example.caf\u{E9}"
        $0.data?.signedTransactionInfo = part
      }, .nestedMismatch, at: Self.transactionPlace)
  }

  @Test("spellings of one environment agree, and the sandbox's app identifier 0 with any")
  func agreement() throws {
    let part = try Fixture.receipts.signedTransaction { $0.environment = .productionSandbox }
    expectValid(try verdict { $0.data?.signedTransactionInfo = part })
    expectValid(try appNotification { $0.appAppleId = 0 })
    expectValid(try appNotification { $0.appAppleId = nil })
  }

  @Test("a part that names no environment has that of the notification, which is signed around it")
  func inheritedEnvironment() throws {
    let part = try Fixture.receipts.signedTransaction { $0.environment = nil }
    let receipt = expectValid(try verdict { $0.data?.signedTransactionInfo = part })
    #expect(receipt?.nested.first?.environment == nil)
    expectInvalid(
      try verdict {
        $0.environments = [.production]
      } _: {
        $0.data?.signedTransactionInfo = part
      }, .wrongEnvironment, at: Self.transactionPlace)
    // A notification that names none itself is judged as any receipt that does not.
    expectUndetermined(
      try verdict {
        $0.data?.environment = nil
        $0.data?.signedTransactionInfo = part
      }, .environmentUnproven, at: Self.transactionPlace)
  }

  // MARK: Time

  @Test("without a signing date the latest of the parts counts")
  func signingDate() throws {
    let later = SampleReceipts.signedAt.addingSeconds(5)
    let part = try Fixture.receipts.signedRenewalInfo { $0.signedDate = later }
    let receipt = expectValid(
      try verdict {
        $0.signedDate = nil
        $0.data?.signedRenewalInfo = part
      })
    #expect(receipt?.signedAt == later)
  }

  @Test("without any signing date it is undetermined, at the first part that has none")
  func noSigningDate() throws {
    expectUndetermined(
      try verdict {
        $0.signedDate = nil
        $0.data?.signedTransactionInfo = nil
        $0.data?.signedRenewalInfo = nil
      }, .signingTimeMissing)
    let part = try Fixture.receipts.signedTransaction { $0.signedDate = nil }
    expectUndetermined(
      try verdict { $0.data?.signedTransactionInfo = part }, .signingTimeMissing,
      at: Self.transactionPlace)
  }

  @Test("the greatest age is the notification's; its parts may be older")
  func age() throws {
    let older = try Fixture.receipts.signedTransaction {
      $0.signedDate = SampleReceipts.signedAt.addingSeconds(-1000)
    }
    expectValid(
      try verdict {
        $0.maximumAge = 60
      } _: {
        $0.data?.signedTransactionInfo = older
      })
    expectInvalid(
      try verdict {
        $0.maximumAge = 5
      } _: { _ in
      }, .tooOld)
    // If the notification has no date of its own, the dates of its parts decide its age.
    expectInvalid(
      try verdict {
        $0.maximumAge = 60
      } _: {
        $0.signedDate = nil
        $0.data?.signedTransactionInfo = older
        $0.data?.signedRenewalInfo = nil
      }, .tooOld)
  }

  @Test("a part from the future is refused, at its place")
  func futurePart() throws {
    let part = try Fixture.receipts.signedTransaction { $0.signedDate = Fixture.now.addingSeconds(61) }
    expectInvalid(
      try verdict { $0.data?.signedTransactionInfo = part }, .signedInFuture, at: Self.transactionPlace)
  }

  @Test("a part whose chain had expired is refused, at its place")
  func expiredPart() throws {
    let identity = try Fixture.es256.identity(.expired)
    let part = try Fixture.Container.jws.signed(by: identity)
    expectInvalid(
      try verdict { $0.data?.signedTransactionInfo = String(decoding: part, as: UTF8.self) },
      .chainExpired, at: "\(Self.transactionPlace), certificate 0")
  }

  @Test("a policy for notifications alone accepts the parts inside them")
  func kinds() throws {
    expectValid(
      try verdict {
        $0.kinds = [.signedNotification]
      } _: { _ in
      })
    expectInvalid(
      try verdict {
        $0.kinds = [.signedTransaction]
      } _: { _ in
      }, .wrongKind)
  }

  @Test("a notification about two things is refused")
  func twoSubjects() throws {
    expectInvalid(
      try verdict {
        $0.summary = NotificationSummary().with {
          $0.bundleId = SampleReceipts.bundleId
        }
      }, .malformed,
      at: "$")
  }
}
