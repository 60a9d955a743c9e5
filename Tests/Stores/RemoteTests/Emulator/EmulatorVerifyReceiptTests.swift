// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptBytes
import ReceiptCodec
import ReceiptSigning
import ReceiptTesting
import Storefront
import Testing

/// `verifyReceipt` of the emulator.
@Suite struct EmulatorVerifyReceiptTests {
  private func ask(
    _ fixture: EmulatorFixture, _ receipt: [UInt8], _ more: String = ""
  ) async throws -> JSONValue {
    let text = Base64.encodeToString(receipt)
    return try await fixture.json("POST", "/verifyReceipt", "{\"receipt-data\":\"\(text)\"\(more)}")
  }

  @Test("genuine and forged receipts are distinguished, and sandbox and production")
  func statuses() async throws {
    let receipts = try TestReceipts()
    let sandbox = try await EmulatorFixture()
    let production = try await EmulatorFixture(.production)
    let tested = try receipts.appReceipt()
    let bought = try receipts.appReceipt { $0.environment = .production }
    #expect(try await ask(sandbox, tested)["status"]?.int64 == 0)
    #expect(try await ask(production, bought)["status"]?.int64 == 0)
    #expect(try await ask(production, tested)["status"]?.int64 == 21_007)
    #expect(try await ask(sandbox, bought)["status"]?.int64 == 21_008)
    var forged = tested
    forged[forged.count - 1] ^= 1
    #expect(try await ask(sandbox, forged)["status"]?.int64 == 21_003)
    #expect(try await ask(sandbox, [1, 2, 3])["status"]?.int64 == 21_002)
    #expect(try await sandbox.json("POST", "/verifyReceipt", "{}")["status"]?.int64 == 21_002)
    #expect(try await sandbox.json("POST", "/verifyReceipt", "no")["status"]?.int64 == 21_000)
  }

  @Test("subscriptions need the shared secret")
  func sharedSecret() async throws {
    let fixture = try await EmulatorFixture(sharedSecret: "abc")
    let receipt = try TestReceipts().appReceipt()
    #expect(try await ask(fixture, receipt)["status"]?.int64 == 21_004)
    #expect(try await ask(fixture, receipt, ",\"password\":\"x\"")["status"]?.int64 == 21_004)
    #expect(try await ask(fixture, receipt, ",\"password\":\"abc\"")["status"]?.int64 == 0)
    let coins = try TestReceipts().appReceipt { $0.inAppPurchases.removeFirst() }
    #expect(try await ask(fixture, coins)["status"]?.int64 == 0)
  }

  @Test("the latest transactions come with the receipt, each date in three formats")
  func latest() async throws {
    let fixture = try await EmulatorFixture()
    var renewal = SampleReceipts.transaction
    renewal.transactionId = "2000000009"
    renewal.purchaseDate = SampleReceipts.expiresAt
    try await fixture.store.purchases.add([
      LocalStore.ImportedPurchase(renewal, renewalInfo: SampleReceipts.renewalInfo)
    ])
    let receipt = try TestReceipts().appReceipt()
    let answer = try await ask(fixture, receipt)
    #expect(answer["latest_receipt_info"]?.array?.count == 2)
    #expect(answer["pending_renewal_info"]?.array?.first?["auto_renew_status"]?.string == "1")
    let latest = try #require(answer["latest_receipt"]?.string)
    let bytes = try Base64.decode(Array(latest.utf8))
    #expect(try UnverifiedAppReceipt(parsing: bytes).decoded().content.inAppPurchases.count == 2)
    let created = try #require(answer["receipt"])
    #expect(created["receipt_creation_date"]?.string == "2025-10-01 07:09:12 Etc/GMT")
    #expect(created["receipt_creation_date_ms"]?.string == "1759302552000")
    #expect(created["receipt_creation_date_pst"]?.string == "2025-10-01 00:09:12 America/Los_Angeles")
    let newest = try await ask(fixture, receipt, ",\"exclude-old-transactions\":true")
    #expect(newest["latest_receipt_info"]?.array?.map { $0["transaction_id"]?.string } == ["2000000009"])
  }

  @Test(
    "California's clocks",
    arguments: [
      (1_578_072_627, "2020-01-03 09:30:27"), (1_583_661_599, "2020-03-08 01:59:59"),
      (1_583_661_600, "2020-03-08 03:00:00"), (1_604_221_199, "2020-11-01 01:59:59"),
      (1_604_221_200, "2020-11-01 01:00:00"), (1_143_971_999, "2006-04-02 01:59:59"),
      (1_143_972_000, "2006-04-02 03:00:00"), (1_162_112_400, "2006-10-29 01:00:00"),
    ])
  func pacificTime(seconds: Int64, text: String) async throws {
    let fixture = try await EmulatorFixture()
    let receipt = try TestReceipts().appReceipt {
      $0.originalPurchaseDate = Timestamp(secondsSince1970: seconds)
    }
    let answer = try #require(try await ask(fixture, receipt)["receipt"])
    #expect(answer["original_purchase_date_pst"]?.string == "\(text) America/Los_Angeles")
  }

  @Test("a status can be forced")
  func faults() async throws {
    let fixture = try await EmulatorFixture()
    fixture.store.faults.replace(with: [.once(.receiptStatus(21_104, isRetryable: true))])
    let delivery = await fixture.store.deliver(EmulatorRequest("POST", target: "/verifyReceipt"))
    guard case .send(let bytes)? = delivery.steps.first else {
      Issue.record("\(delivery)")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(#"{"status":21104,"is-retryable":true}"#))
  }
}
