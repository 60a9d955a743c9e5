// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct RecordingTests {
  private let token = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"

  @Test func aValidTransactionIsRecordedWithAllThatItStates() async throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let records = try await RecordingFixture.records(
      receipt, answers: [.response(CheckerResponse(.confirmed))])
    let record = try #require(records.first)
    #expect(records.count == 1)
    #expect(record.time == 1_759_302_562_000)
    #expect(record.kind == .verdict)
    #expect(record.receipt == ReceiptDigests(of: receipt).identity)
    #expect(record.encoding == SHA256Digest(of: receipt))
    #expect(record.format == "signed-transaction")
    #expect(record.notification == nil && record.subtype == nil)
    #expect(record.transaction == "2000000001")
    #expect(record.original == "2000000001")
    #expect(record.product == "com.example.app.monthly")
    #expect(record.bundle == "com.example.app")
    #expect(record.environment == "Sandbox")
    #expect(record.expires == 1_761_980_950_000)
    #expect(record.verdict == .valid)
    #expect(record.reason == nil)
    let authority = try TestAuthority.es256()
    #expect(record.root?.bytes == authority.root.sha256Fingerprint)
    #expect(record.signer?.bytes == authority.identity.chain.first?.sha256Fingerprint)
    #expect(record.policy == SHA256Digest(of: RecordingFixture.policy()))
    #expect(record.checks == [RecordedCheck(name: "checker 0", answer: .confirmed)])
    #expect(record.receiptBytes == receipt)
    #expect(record.customerToken == token)
  }

  @Test func aReceiptIsTheSameWhateverIsAroundIt() async throws {
    let jws = try TestReceipts().signedTransaction()
    let plain = try await RecordingFixture.records(Array(jws.utf8))
    let wrapped = try await RecordingFixture.records(Array("{\"signedTransactionInfo\":\"\(jws)\"}\n".utf8))
    #expect(plain == wrapped)
    let appReceipt = try TestReceipts().appReceipt()
    let base64 = try await RecordingFixture.records(Base64.encode(appReceipt))
    #expect(try await RecordingFixture.records(appReceipt) == base64)
    #expect(base64.first?.receiptBytes == appReceipt)
  }

  @Test func ofAForgedReceiptNothingIsBelieved() async throws {
    var receipt = Array(try TestReceipts().signedTransaction().utf8)
    receipt[receipt.count - 2] ^= 1
    let records = try await RecordingFixture.records(receipt)
    let record = try #require(records.first)
    #expect(records.count == 1)
    #expect(record.verdict == .invalid)
    #expect(record.reason != nil)
    #expect(record.receipt == SHA256Digest(of: receipt))
    #expect(record.transaction == nil && record.original == nil && record.product == nil)
    #expect(record.bundle == nil && record.environment == nil && record.expires == nil)
    #expect(record.signer == nil && record.root == nil)
    #expect(record.receiptBytes == receipt)
    #expect(record.customerToken == nil)
  }

  @Test func ofAnotherAppsReceiptNothingIsBelieved() async throws {
    let receipt = Array(try TestReceipts().signedTransaction { $0.bundleId = "com.example.other" }.utf8)
    let record = try #require(try await RecordingFixture.records(receipt).first)
    #expect(record.reason == "wrong-bundle")
    #expect(record.transaction == nil && record.bundle == nil && record.customerToken == nil)
  }

  @Test func aRefundedReceiptIsRecordedWithWhatItStates() async throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let refundedAt = Timestamp(millisecondsSince1970: 1_759_400_000_123)
    let record = try #require(
      try await RecordingFixture.records(
        receipt, answers: [.response(CheckerResponse(.revoked(at: refundedAt)))]
      ).first)
    #expect(record.verdict == .invalid)
    #expect(record.reason == "revoked")
    #expect(record.transaction == "2000000001")
    #expect(record.revoked == 1_759_400_000_123)
    #expect(record.checks.map(\.answer) == [.revoked])
    #expect(record.customerToken == token)
  }

  @Test func aReceiptThatWaitsForACheckerIsRecordedWithWhatItStates() async throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let record = try #require(
      try await RecordingFixture.records(
        receipt, answers: [.terminalFailure(message: "no key"), .retryableFailure(message: "busy")]
      ).first)
    #expect(record.verdict == .undetermined)
    #expect(record.reason == "checker-unavailable")
    #expect(record.original == "2000000001")
    #expect(record.environment == "Sandbox")
    #expect(record.checks.map(\.answer) == [.failed, .unavailable])
  }

  @Test func anEnvironmentThatIsOnlyClaimedIsNoFact() async throws {
    let receipt = try TestReceipts().transactionReceipt(environment: .production)
    let record = try #require(
      try await RecordingFixture.records(receipt) { $0.environments = [.production] }.first)
    #expect(record.verdict == .undetermined)
    #expect(record.reason == "environment-unproven")
    #expect(record.transaction != nil)
    #expect(record.environment == nil)
  }

  @Test func anAppReceiptWithSeveralPurchasesHasARecordForEachLine() async throws {
    let receipt = try TestReceipts().appReceipt { payload in
      let line = payload.inAppPurchases.first { $0.originalTransactionId != nil }
      if var renewal = line {
        renewal.transactionId = "2000000777"
        renewal.purchaseDate = renewal.purchaseDate?.addingSeconds(86400)
        payload.inAppPurchases.insert(renewal, at: 0)
      }
    }
    let records = try await RecordingFixture.records(receipt)
    #expect(records.map(\.kind) == [.verdict, .purchase, .purchase])
    #expect(records[0].transaction == nil && records[0].original == nil)
    #expect(records[0].receiptBytes == receipt)
    #expect(Set(records.map(\.receipt)).count == 1)
    #expect(records.allSatisfy { $0.format == "app-receipt" })
    // The bytes are kept with the verdict alone.
    #expect(records.map(\.encoding) == [SHA256Digest(of: receipt), nil, nil])
    #expect(Set(records.map(\.policy)).count == 1)
    // The newest transaction of each line, wherever it stands in the receipt.
    #expect(Set(records.map(\.transaction)) == [nil, "2000000002", "2000000777"])
    #expect(records[1].original != records[2].original)
    #expect(records[1...].allSatisfy { $0.verdict == .valid && $0.receiptBytes == nil && $0.bundle != nil })
    #expect(Set(records.map { ExactlyOnce.key($0.facts) }).count == 3)
  }

  @Test("of a notification its type and subtype are recorded, only where the signature is valid")
  func notification() async throws {
    let receipt = Array(try TestReceipts().signedNotification().utf8)
    let record = try #require(try await RecordingFixture.records(receipt).first)
    #expect(record.format == "signed-notification")
    #expect(record.notification == "SUBSCRIBED" && record.subtype == "INITIAL_BUY")
    var forged = receipt
    forged[forged.count - 2] ^= 1
    let other = try #require(try await RecordingFixture.records(forged).first)
    #expect(other.format == nil && other.notification == nil && other.subtype == nil)
  }

  @Test func anAppReceiptWithOnePurchaseNamesItInTheVerdict() async throws {
    let receipt = try TestReceipts().appReceipt { $0.inAppPurchases.removeLast() }
    let records = try await RecordingFixture.records(receipt)
    #expect(records.count == 1)
    #expect(records[0].original != nil)
  }

  @Test func purchasesWithoutAnOriginalTransactionAreKeptApart() async throws {
    let receipt = try TestReceipts().appReceipt { payload in
      for index in payload.inAppPurchases.indices {
        payload.inAppPurchases[index].originalTransactionId = nil
      }
    }
    let records = try await RecordingFixture.records(receipt)
    #expect(records.count == 3)
    #expect(records.allSatisfy { $0.original == nil })
    #expect(Set(records.map { ExactlyOnce.key($0.facts) }).count == 3)
  }

  @Test(arguments: ReceiptKind.allCases)
  func everyKindHasARecordThatAnEntryCanHold(kind: ReceiptKind) async throws {
    let receipt = try TestReceipts().receipt(of: kind)
    let keys = try TestReceipts.appKeys()
    let records = try await RecordingFixture.records(receipt) {
      $0.environments = [.sandbox, .production]
      $0.appKeys = keys
    }
    for record in records {
      #expect(record.verdict == .valid)
      let bytes = try AuditEntry(record.facts).encoded()
      #expect(try AuditEntry(parsing: bytes).facts == record.facts)
    }
    #expect(
      (records.first?.original == nil)
        == [.signedAppTransaction, .appReceipt, .googlePlayLicense].contains(kind))
  }

  @Test func whatIsKeptIsTheCallersChoice() async throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let bare = try await RecordingFixture.records(receipt, options: RecordingOptions(keepsReceipt: false))
    #expect(bare.first?.receiptBytes == nil)
    let named = try await RecordingFixture.records(receipt, options: RecordingOptions(customer: "ACCOUNT-7"))
    #expect(named.first?.customerToken == "ACCOUNT-7")
    let upper = try await RecordingFixture.records(
      receipt, options: RecordingOptions(customer: token.uppercased()))
    #expect(upper.first?.customerToken == token)
    let garbage = [UInt8](repeating: 0x41, count: 65537)
    #expect(try await RecordingFixture.records(garbage).first?.receiptBytes == nil)
    #expect(try await RecordingFixture.records(garbage).first?.receipt == SHA256Digest(of: garbage))
    #expect(try await RecordingFixture.records(Array(garbage.dropLast())).first?.receiptBytes != nil)
  }

  @Test func aCompositionIsFollowedByWhatItAsked() {
    let parts = [
      CheckerReport(name: "a", answer: .retryableFailure(message: ""), duration: .zero),
      CheckerReport(name: "b", answer: .response(CheckerResponse(.confirmed)), duration: .zero),
    ]
    let report = CheckerReport(
      name: "any-of(a, b)", answer: .response(CheckerResponse(.confirmed)), duration: .zero, parts: parts)
    #expect(RecordedCheck.list([report]).map(\.name) == ["any-of(a, b)", "a", "b"])
    #expect(RecordedCheck.list([report]).map(\.answer) == [.confirmed, .unavailable, .confirmed])
    let many = CheckerReport(
      name: "many", answer: .terminalFailure(message: ""), duration: .zero,
      parts: Array(repeating: parts[0], count: 1000))
    #expect(RecordedCheck.list([many]).count == 16)
    let long = CheckerReport(
      name: String(repeating: "ä", count: 100), answer: .terminalFailure(message: ""), duration: .zero)
    #expect(RecordedCheck.list([long]).map(\.name.utf8.count) == [128])
  }
}
