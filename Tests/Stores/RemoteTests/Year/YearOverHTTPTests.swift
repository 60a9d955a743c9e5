// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import Entitlements
import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTPCurl
import ReceiptTesting
import SQLite
import StoreSimulation
import Storefront
import Testing

/// The emulated App Store and `receipt-server`, with an unreliable wire between them: what the server has in its database
/// after a year is what the store's engine knows.
@Suite struct YearOverHTTPTests {
  private static let isLong = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1"
  /// 1,000 with RECEIPTKIT_FULL_SWEEPS=1.
  private static let subscriptions = isLong ? 1000 : 30

  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var path: String { folder.appending(path: "data/service.sqlite").path }

  @Test(
    "duplicates, reordering and losses that are retried leave the engine's own state",
    .enabled(if: ReceiverProcess.isPresent, ReceiverProcess.absence), arguments: [16, nil])
  func aYear(gracePeriodDays: Int?) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let root = folder.appending(path: "root.cer")
    try Data(TestAuthority.es256().root.der).write(to: root)
    let policy = "app.demo.policy.default"
    let receiver = try ReceiverProcess(
      in: folder.appending(path: "data"),
      [
        "app.demo.record": "false", "\(policy).bundleIds": LivingYear.bundleIdentifier,
        "\(policy).environments": "sandbox", "\(policy).trust": root.path,
      ])
    defer { receiver.stop() }
    let wire = try UnreliableWire(to: receiver, seed: 2)
    defer { wire.close() }
    let transport = CurlTransport()
    defer { transport.shutdown() }
    var store = try EmulatedAppStore(
      .init(bundleId: LivingYear.bundleIdentifier), signing: EmulatorSigning(),
      clock: EmulatorClock(at: LivingYear.start, rate: 0), catalog: LivingYear.catalog,
      options: LivingYear.options(seed: 1, gracePeriodDays: gracePeriodDays))
    await store.sendNotifications(to: wire.url, over: transport, timeout: UnreliableWire.timeout)

    var year = LivingYear(subscriptions: Self.subscriptions, seed: 7, at: store)
    try await year.pass()
    await wire.mend()
    // The last attempt is 156 hours after the first.
    try await store.advance(to: LivingYear.end.addingSeconds(7 * 86_400))
    receiver.stop()

    let sent = try await sentNotifications(of: store.purchases)
    expectAll(year, wire, sent, hasGrace: gracePeriodDays != nil)
    try expectAllRecorded(sent.count)
    let compared = try await expectEqual(year, sent)
    if Self.isLong { report(compared, wire, sent) }
  }

  private struct Sent {
    let notification: SignedNotification
    let results: [String]
  }

  private func sentNotifications(of store: LocalStore) async throws -> [Sent] {
    var sent: [Sent] = []
    while true {
      let page = try await store.notifications(after: sent.last?.notification.number ?? 0)
      if page.isEmpty { return sent }
      for notification in page {
        let attempts = try await store.delivery(of: notification.number).attempts
        sent.append(Sent(notification: notification, results: attempts.map(\.sendAttemptResult)))
      }
    }
  }

  /// Every deed, every fault, every number of attempts: what did not happen proves nothing.
  private func expectAll(_ year: LivingYear, _ wire: UnreliableWire, _ sent: [Sent], hasGrace: Bool) {
    #expect(Set(LivingYear.Deed.allCases).subtracting(year.deeds.keys) == [])
    #expect(Set(UnreliableWire.Fault.allCases).subtracting(wire.counts.keys) == [])
    #expect(sent.filter { $0.results.last != "SUCCESS" }.map(\.notification.number) == [])
    #expect(Set(sent.map(\.results.count)).isSuperset(of: Self.isLong ? 1...6 : 1...4))
    #expect(
      Set(sent.flatMap(\.results)).isSuperset(
        of: ["SUCCESS", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "PREMATURE_CLOSE", "TIMED_OUT"]))
    let names = Set(
      sent.map { sent in
        let notification = sent.notification
        return notification.type.rawValue + (notification.subtype.map { " " + $0.rawValue } ?? "")
      })
    let failures: Set =
      hasGrace ? ["DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED"] : ["DID_FAIL_TO_RENEW"]
    #expect(Self.names.union(failures).subtracting(names) == [])
  }

  /// The notifications of a year's subscriptions.
  private static let names: Set = [
    "SUBSCRIBED INITIAL_BUY", "SUBSCRIBED RESUBSCRIBE", "DID_RENEW", "DID_RENEW BILLING_RECOVERY",
    "EXPIRED VOLUNTARY", "EXPIRED BILLING_RETRY",
    "EXPIRED PRICE_INCREASE", "EXPIRED PRODUCT_NOT_FOR_SALE", "DID_CHANGE_RENEWAL_PREF",
    "DID_CHANGE_RENEWAL_PREF UPGRADE", "DID_CHANGE_RENEWAL_PREF DOWNGRADE",
    "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
    "OFFER_REDEEMED", "OFFER_REDEEMED UPGRADE", "PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED",
    "RENEWAL_EXTENDED", "REFUND",
    "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE",
  ]

  private func withDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let connection = try Connection(
      try DatabaseFile(path), .reading, timeout: BusyTimeout(.seconds(10)), pragmas: "")
    return try connection.use(body)
  }

  /// Each notification is recorded once, and none that was not sent.
  private func expectAllRecorded(_ count: Int) throws {
    let recorded = try withDatabase { try $0.integer("SELECT count(*) FROM notifications") }
    #expect(recorded == Int64(count))
  }

  /// - Returns: How many subscriptions were compared.
  private func expectEqual(_ year: LivingYear, _ sent: [Sent]) async throws -> Int {
    var ledger = EntitlementLedger()
    try withDatabase { database in
      try database.withStatement("SELECT ledger FROM ledgers") { statement in
        while try statement.step() {
          ledger.merge(try EntitlementLedger(decoding: statement.blob(0) ?? []))
        }
      }
    }
    let lastSigned = Dictionary(
      sent.map { ($0.notification.originalTransactionIdentifier, $0.notification.signedDate) },
      uniquingKeysWith: max)
    let now = year.store.configuration.clock()
    var compared = 0
    for account in year.accounts {
      for state in try await year.store.purchases.subscriptionStates(of: account) {
        compared += 1
        let found = ledger.disagreements(
          with: state.subscription, lastSigned: lastSigned[state.subscription.id],
          bundleIdentifier: LivingYear.bundleIdentifier, at: now)
        #expect(found == [])
        let id = Entitlement.ID(
          environment: .sandbox, bundleId: LivingYear.bundleIdentifier,
          originalTransactionId: state.subscription.id)
        #expect(
          ledger[id]?.renewalInfo?.with { $0.signedDate = nil }
            == state.renewalInfo.with { $0.signedDate = nil })
      }
    }
    #expect(compared >= Self.subscriptions)
    #expect(ledger.entitlements.count == compared)
    return compared
  }

  private func report(_ count: Int, _ wire: UnreliableWire, _ sent: [Sent]) {
    let attempts = sent.flatMap(\.results)
    let faults = wire.counts.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key.rawValue)" }
    print(
      """
      \(count) subscriptions compared; \(sent.count) notifications, \(attempts.count) attempts, \(attempts.count { $0 != "SUCCESS" }) of them failed, \
      \(sent.count { $0.results.count == 6 }) notifications with six; wire: \(wire.requests) requests, \
      \(faults.joined(separator: ", "))
      """)
  }
}
