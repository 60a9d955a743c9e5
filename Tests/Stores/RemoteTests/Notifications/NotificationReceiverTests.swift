// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// The receiver's results for the bodies of requests.
@Suite struct NotificationReceiverTests {
  private let receipts: TestReceipts
  private let receiver: NotificationReceiver

  init() throws {
    receipts = try TestReceipts()
    receiver = NotificationReceiver(verifier: try Story.verifier())
  }

  private func body(_ jws: String) -> [UInt8] { Array(#"{"signedPayload":"\#(jws)"}"#.utf8) }

  private func rejection(
    _ body: [UInt8], by receiver: NotificationReceiver? = nil
  ) -> NotificationRejection? {
    do throws(NotificationRejection) {
      _ = try (receiver ?? self.receiver).receive(body)
      return nil
    } catch {
      return error
    }
  }

  private func expectInvalid(
    _ jws: String, _ code: ReasonCode, at place: String = "", by receiver: NotificationReceiver? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .invalid(let invalid) = rejection(body(jws), by: receiver) else {
      Issue.record("not refused as invalid", sourceLocation: sourceLocation)
      return
    }
    #expect(invalid.reason.code == code, sourceLocation: sourceLocation)
    #expect(invalid.reason.place == place, sourceLocation: sourceLocation)
  }

  @Test("a notification and its parts, from the POST body, with white space around it, or the JWS alone")
  func accepted() throws {
    let jws = try receipts.signedNotification()
    for body in [
      body(jws), Array(" \n{ \"signedPayload\" : \"\(jws)\" }\r\n".utf8), Array("\(jws)\n".utf8),
      Array("\u{FEFF}".utf8) + body(jws), Array("\u{FEFF}\(jws)".utf8),
    ] {
      let notification = try receiver.receive(body)
      #expect(notification.type == .subscribed)
      #expect(notification.subtype == .initialBuy)
      #expect(notification.uuid == SampleReceipts.notification.notificationUUID)
      #expect(notification.signedDate == SampleReceipts.signedAt)
      #expect(notification.environment == .sandbox)
      #expect(notification.bundleId == SampleReceipts.bundleId)
      #expect(notification.receipt.appAppleId == SampleReceipts.appAppleId)
      #expect(notification.notification.data?.status == .active)
      #expect(notification.transaction == SampleReceipts.transaction)
      #expect(notification.renewalInfo == SampleReceipts.renewalInfo)
      #expect(notification.appTransaction == nil)
    }
    #expect(NotificationReceiver.acceptedHTTPStatus == 200)
  }

  @Test("TEST and other notifications without a transaction are accepted, and change no ledger")
  func withoutTransaction() throws {
    var ledger = EntitlementLedger()
    let test = try receipts.signedNotification {
      $0.notificationType = .test
      $0.subtype = nil
      $0.data?.signedTransactionInfo = nil
      $0.data?.signedRenewalInfo = nil
      $0.data?.status = nil
    }
    let summary = try receipts.signedNotification {
      $0.notificationType = .renewalExtension
      $0.subtype = .summary
      $0.data = nil
      $0.summary = NotificationSummary().with {
        $0.environment = .sandbox
        $0.appAppleId = SampleReceipts.appAppleId
        $0.bundleId = SampleReceipts.bundleId
        $0.succeededCount = 5
        $0.failedCount = 1
      }
    }
    let token = try receipts.signedNotification {
      $0.notificationType = .externalPurchaseToken
      $0.subtype = .unreported
      $0.data = nil
      $0.externalPurchaseToken = ExternalPurchaseToken().with {
        $0.externalPurchaseId = "SANDBOX_1"
        $0.tokenCreationDate = SampleReceipts.signedAt
        $0.appAppleId = SampleReceipts.appAppleId
        $0.bundleId = SampleReceipts.bundleId
      }
    }
    let appTransaction = try receipts.signedAppTransaction()
    let consent = try receipts.signedNotification {
      $0.notificationType = .rescindConsent
      $0.subtype = nil
      $0.data = nil
      $0.appData = NotificationAppData().with {
        $0.appAppleId = SampleReceipts.appAppleId
        $0.bundleId = SampleReceipts.bundleId
        $0.environment = .sandbox
        $0.signedAppTransactionInfo = appTransaction
      }
    }
    for jws in [test, summary, token, consent] {
      let notification = try receiver.receive(body(jws))
      #expect(notification.transaction == nil)
      #expect(notification.environment == .sandbox)
      #expect(ledger == EntitlementLedger())
      #expect(ledger.apply(notification) == nil)
    }
    #expect(ledger.entitlements.isEmpty)
    #expect(
      ledger.rescindedConsents.map(\.appTransactionId) == [SampleReceipts.appTransaction.appTransactionId])
    #expect(try receiver.receive(body(summary)).notification.summary?.succeededCount == 5)
    #expect(
      try receiver.receive(body(token)).notification.externalPurchaseToken?.externalPurchaseId == "SANDBOX_1")
    #expect(try receiver.receive(body(consent)).appTransaction == SampleReceipts.appTransaction)
  }

  @Test("a rescinded consent is kept of the customer, whatever the order, and survives encoding")
  func consent() throws {
    var forwards = EntitlementLedger()
    var backwards = EntitlementLedger()
    let notifications = try [(1.0, "704"), (2, "704"), (0, "9")].map { day, customer in
      let appTransaction = try receipts.signedAppTransaction { $0.appTransactionId = customer }
      let jws = try receipts.signedNotification {
        $0.notificationType = .rescindConsent
        $0.subtype = nil
        $0.signedDate = SampleReceipts.signedAt.addingSeconds(day)
        $0.data = nil
        $0.appData = NotificationAppData().with {
          $0.appAppleId = SampleReceipts.appAppleId
          $0.bundleId = SampleReceipts.bundleId
          $0.environment = .sandbox
          $0.signedAppTransactionInfo = appTransaction
        }
      }
      return try receiver.receive(body(jws))
    }
    for notification in notifications { forwards.apply(notification) }
    for notification in notifications.reversed() { backwards.apply(notification) }
    let found = forwards.rescindedConsents
    #expect(found.map(\.appTransactionId) == ["9", "704"])
    #expect(found.map(\.signedDate) == [SampleReceipts.signedAt, SampleReceipts.signedAt.addingSeconds(2)])
    #expect(found.allSatisfy { $0.environment == .sandbox && $0.bundleId == SampleReceipts.bundleId })
    #expect(forwards == backwards)
    #expect(try EntitlementLedger(decoding: forwards.encoded()) == forwards)
    var merged = EntitlementLedger()
    merged.merge(forwards)
    #expect(merged == forwards)
    let foreign = forwards.encoded().map { $0 == UInt8(ascii: "9") ? UInt8(ascii: " ") : $0 }
    #expect(throws: MalformedReceipt.self) { try EntitlementLedger(decoding: foreign) }
  }

  @Test("a changed byte in the notification or in a part is refused with 400")
  func tampered() throws {
    let transaction = try receipts.signedTransaction()
    let other = try receipts.signedTransaction { $0.productId = "com.example.app.yearly" }
    let parts = transaction.split(separator: ".")
    let otherParts = other.split(separator: ".")
    let forged = "\(parts[0]).\(otherParts[1]).\(parts[2])"
    expectInvalid(
      try receipts.signedNotification { $0.data?.signedTransactionInfo = forged }, .signatureMismatch,
      at: "$.data.signedTransactionInfo, JWS signature")
    let notification = try receipts.signedNotification().split(separator: ".")
    let refund = try receipts.signedNotification { $0.notificationType = .refund }.split(separator: ".")
    expectInvalid(
      "\(notification[0]).\(refund[1]).\(notification[2])", .signatureMismatch, at: "JWS signature")
    expectInvalid("\(notification[0]).\(notification[1]).", .unsigned)
  }

  @Test("no changed byte of a body is accepted")
  func sweep() throws {
    let body = body(try receipts.signedNotification())
    for index in stride(from: 0, to: body.count, by: 13) {
      for mask in [0x01, 0x20] as [UInt8] {
        var changed = body
        changed[index] ^= mask
        let rejection = rejection(changed)
        #expect(rejection?.httpStatus == 400, "byte \(index), mask \(mask)")
      }
    }
    for count in stride(from: 0, to: body.count, by: 97) {
      #expect(rejection(Array(body[..<count]))?.httpStatus == 400, "cut to \(count) bytes")
    }
  }

  @Test("another app, another environment, another chain: refused")
  func policy() throws {
    expectInvalid(
      try receipts.signedNotification { $0.data?.bundleId = "com.example.other" }, .nestedMismatch,
      at: "$.data.signedTransactionInfo")
    expectInvalid(
      try receipts.signedNotification {
        $0.data?.bundleId = "com.example.other"
        $0.data?.signedTransactionInfo = nil
        $0.data?.signedRenewalInfo = nil
      }, .wrongBundle)
    let part = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    expectInvalid(
      try receipts.signedNotification { $0.data?.signedTransactionInfo = part }, .wrongBundle,
      at: "$.data.signedTransactionInfo")
    let production = NotificationReceiver(verifier: try Story.verifier { $0.environments = [.production] })
    expectInvalid(
      try receipts.signedNotification(), .wrongEnvironment, at: "$.data.signedTransactionInfo",
      by: production)
    let apple = NotificationReceiver(
      verifier: ReceiptVerifier(
        trust: .apple, policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox])))
    expectInvalid(try receipts.signedNotification(), .chainUntrusted, at: "certificate 2", by: apple)
  }

  @Test("a verified receipt that is not a notification is refused")
  func otherKinds() throws {
    for (jws, kind) in [
      (try receipts.signedTransaction(), ReceiptKind.signedTransaction),
      (try receipts.signedRenewalInfo(), .signedRenewalInfo),
      (try receipts.signedRealtimeRequest(), .signedRealtimeRequest),
    ] {
      #expect(rejection(body(jws)) == .wrongKind(kind))
      #expect(rejection(body(jws))?.httpStatus == 400)
    }
    #expect(
      AppStoreNotification(
        try #require(Story.verifier().verify(try receipts.signedTransaction()).receipt)) == nil)
  }

  @Test(
    "a body that is not a notification is refused as malformed, with 400",
    arguments: [
      ("", MalformedReceipt.Code.empty), (" \n", .empty), ("{}", .missing),
      (#"{"signedPayload":7}"#, .missing),
      (#"{"signedPayload":""}"#, .empty), (#"{"signedPayload":"a.b"}"#, .truncated),
      (#"{"signedPayload":"a.b.c","signedPayload":"a.b.c"}"#, .duplicate),
      (#"{"signedPayload":"a.b.c""#, .truncated), ("[]", .truncated), ("\u{0}\u{0}", .truncated),
      (#"{"receipt-data":"a.b.c"}"#, .missing),
    ])
  func malformed(text: String, code: MalformedReceipt.Code) {
    let rejection = rejection(Array(text.utf8))
    guard case .malformed(let error) = rejection else {
      Issue.record("not malformed: \(String(describing: rejection))")
      return
    }
    #expect(error.code == code, "\(error)")
    #expect(rejection?.httpStatus == 400)
  }

  @Test("a body beyond the limit is refused unread; one at the limit is read")
  func oversize() throws {
    let body = body(try receipts.signedNotification())
    let small = NotificationReceiver(verifier: receiver.verifier, maximumByteCount: body.count - 1)
    #expect(
      rejection(body, by: small) == .tooLarge(byteCount: body.count, limit: body.count - 1))
    #expect(rejection(body, by: small)?.httpStatus == 400)
    let exact = NotificationReceiver(verifier: receiver.verifier, maximumByteCount: body.count)
    #expect(rejection(body, by: exact) == nil)
    #expect(
      rejection([UInt8](repeating: 0x20, count: (1 << 20) + 1))
        == .tooLarge(byteCount: (1 << 20) + 1, limit: 1 << 20))
  }

  @Test("a notification that cannot be verified now is answered with 503, so that it is delivered again")
  func undetermined() throws {
    // Without a signing time there is nothing to judge the certificates by.
    let jws = try receipts.signedNotification {
      $0.signedDate = nil
      $0.data?.signedTransactionInfo = nil
      $0.data?.signedRenewalInfo = nil
    }
    let rejection = rejection(body(jws))
    guard case .undetermined(let receipt) = rejection else {
      Issue.record("not undetermined: \(String(describing: rejection))")
      return
    }
    #expect(receipt.reason.code == .signingTimeMissing)
    #expect(rejection?.httpStatus == 503)
  }

  @Test(
    "events are in signing order, whatever the order of delivery; by notificationUUID within a millisecond")
  func order() throws {
    let notifications = try [(3.0, "b"), (3, "a"), (1, "z"), (2, "m")].map { seconds, uuid in
      try receiver.receive(
        body(
          try receipts.signedNotification {
            $0.signedDate = SampleReceipts.signedAt.addingSeconds(seconds)
            $0.notificationUUID = UUIDString(rawValue: uuid)
          }))
    }
    #expect(notifications.inSigningOrder().map(\.uuid?.rawValue) == ["z", "m", "a", "b"])
  }

  @Test(
    "a notification about a purchase that no longer stands is taken, whatever the policy requires of receipts"
  )
  func lapsed() throws {
    let verifier = try Story.verifier { $0.requiresCurrentPurchase = true }
    let refunded = try TestReceipts().signedTransaction { $0.revocationDate = $0.purchaseDate }
    let notification = try TestReceipts().signedNotification {
      $0.notificationType = .refund
      $0.data?.signedTransactionInfo = refunded
    }
    #expect(verifier.verify(notification).reason?.code == .notCurrent)
    #expect(try NotificationReceiver(verifier: verifier).receive(Array(notification.utf8)).type == .refund)
  }
}
