// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
import EntitlementsSQLite
import Foundation
import GooglePlay
import ReceiptCodec
import ReceiptTesting
import SQLite
import Testing

/// Purchases of both stores side by side, in the ledger and in its file.
@Suite struct PlayLedgerTests {
  private static func id(_ token: String) throws -> PlayEntitlement.ID {
    try #require(PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: token))
  }

  private static func subscription(
    _ state: PlaySubscriptionState, days: Double, order: String, linked: String? = nil
  ) -> SubscriptionPurchaseV2 {
    SubscriptionPurchaseV2().with {
      $0.subscriptionState = state
      $0.startTime = PlayFixture.now
      $0.linkedPurchaseToken = linked
      $0.lineItems = [
        PlaySubscriptionLineItem().with {
          $0.productId = "pro"
          $0.expiryTime = PlayFixture.now.addingSeconds(days * 86_400)
          $0.latestSuccessfulOrderId = order
        }
      ]
    }
  }

  /// What came of a purchase, its renewal, a voided order, and the purchase that replaced it.
  private static func changes() throws -> [EntitlementLedger] {
    func change(_ body: (inout EntitlementLedger) throws -> Void) rethrows -> EntitlementLedger {
      var ledger = EntitlementLedger()
      try body(&ledger)
      return ledger
    }
    let now = PlayFixture.now
    return try [
      change { try $0.apply(subscription(.active, days: 30, order: "GPA.1"), to: id("t1"), asOf: now) },
      change {
        try $0.apply(
          subscription(.active, days: 60, order: "GPA.1..0"), to: id("t1"), asOf: now.addingSeconds(86_400))
      },
      change {
        let voided = VoidedPurchase().with {
          $0.purchaseToken = "t1"
          $0.orderId = "GPA.1..0"
          $0.voidedTimeMillis = now.addingSeconds(2 * 86_400)
        }
        let concerned = try $0.apply(voided, packageName: PlayFixture.packageName) == id("t1")
        #expect(concerned)
      },
      change {
        try $0.apply(
          subscription(.active, days: 90, order: "GPA.2", linked: "t1"), to: id("t2"),
          asOf: now.addingSeconds(3 * 86_400))
      },
    ]
  }

  @Test("any order and any repetition of what was learned gives the same ledger")
  func order() throws {
    let changes = try Self.changes()
    var expected = EntitlementLedger()
    for change in changes { expected.merge(change) }
    for first in changes.indices {
      var ledger = EntitlementLedger()
      for offset in 0...changes.count { ledger.merge(changes[(first + offset) % changes.count]) }
      for change in changes.reversed() { ledger.merge(change) }
      #expect(ledger == expected)
      #expect(ledger.encoded() == expected.encoded())
    }
    let replaced = try #require(try expected[Self.id("t1")])
    #expect(replaced.orderId == "GPA.1..0")
    #expect(replaced.replacedByPurchaseToken == "t2")
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(2 * 86_400)) == .refunded)
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(2 * 86_400 - 1)) == .replaced)
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(-1)) == .active)
    #expect(expected.playEntitlements.map(\.id.purchaseToken) == ["t1", "t2"])
  }

  @Test(
    "each state of a subscription gives access or does not",
    arguments: [
      (PlaySubscriptionState.active, PlayEntitlement.State.active, true), (.canceled, .active, true),
      (.inGracePeriod, .inGracePeriod, true), (.onHold, .onHold, false), (.paused, .paused, false),
      (.expired, .expired, false), (.pending, .pending, false), (.pendingPurchaseCanceled, .cancelled, false),
      (.unspecified, .unknown, false), (.unknown("SUBSCRIPTION_STATE_NEW"), .unknown, false),
    ])
  func states(reported: PlaySubscriptionState, state: PlayEntitlement.State, grantsAccess: Bool) throws {
    var ledger = EntitlementLedger()
    let id = try Self.id("t1")
    ledger.apply(Self.subscription(reported, days: 30, order: "GPA.1"), to: id, asOf: PlayFixture.now)
    let entitlement = try #require(ledger[id])
    #expect(entitlement.state(at: PlayFixture.now) == state)
    #expect(entitlement.grantsAccess(at: PlayFixture.now) == grantsAccess)
    #expect(!entitlement.grantsAccess(at: PlayFixture.now.addingSeconds(30 * 86_400)))
  }

  @Test("a purchase that is not paid for yet replaces nothing")
  func pendingReplacement() throws {
    var ledger = EntitlementLedger()
    ledger.apply(
      Self.subscription(.active, days: 30, order: "GPA.1"), to: try Self.id("t1"), asOf: PlayFixture.now)
    for state in [PlaySubscriptionState.pending, .pendingPurchaseCanceled] {
      ledger.apply(
        Self.subscription(state, days: 30, order: "GPA.2", linked: "t1"), to: try Self.id("t2"),
        asOf: PlayFixture.now)
      #expect(try ledger[Self.id("t1")]?.state(at: PlayFixture.now) == .active)
    }
  }

  @Test("a ledger of the App Store alone is written in version 1, one with Google Play in version 3")
  func versions() throws {
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    var ledger = story.ledger
    #expect(String(decoding: ledger.encoded(), as: UTF8.self).hasPrefix(#"{"version":1,"#))
    #expect(!String(decoding: ledger.encoded(), as: UTF8.self).contains("play"))
    for change in try Self.changes() { ledger.merge(change) }
    let encoded = ledger.encoded()
    #expect(String(decoding: encoded, as: UTF8.self).hasPrefix(#"{"version":3,"#))
    let decoded = try EntitlementLedger(decoding: encoded)
    #expect(decoded == ledger)
    #expect(decoded.encoded() == encoded)
    #expect(decoded.entitlements == story.ledger.entitlements)
    #expect(decoded.playEntitlements.count == 2)
    let broken = String(decoding: encoded, as: UTF8.self).replacing(
      #""purchaseToken":"t2""#, with: #""purchaseToken":"""#)
    let error = #expect(throws: MalformedReceipt.self) { try EntitlementLedger(decoding: Array(broken.utf8)) }
    #expect(error?.place == .jsonPath("$.playPurchases[1]"))
  }

  // MARK: In a file

  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "state.sqlite").path)
  }

  private func ledger(_ path: String) throws -> EntitlementLedger {
    var all = EntitlementLedger()
    try EntitlementStore(at: path).forEachLedger { all.merge($0) }
    return all
  }

  @Test("a file holds both stores, and each message counts once")
  func bothStores() throws {
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    var expected = story.ledger
    try withFile { path in
      let store = try EntitlementStore(at: path)
      #expect(try store.record(story.received[0]))
      for (index, change) in try Self.changes().enumerated() {
        #expect(try !store.isRecorded(messageId: "m\(index)"))
        #expect(try store.record(messageId: "m\(index)", change))
        #expect(try store.isRecorded(messageId: "m\(index)"))
        #expect(try !store.record(messageId: "m\(index)", change))
        expected.merge(change)
      }
      // A test message is about no purchase.
      #expect(try store.record(messageId: "test", EntitlementLedger()))
      #expect(try ledger(path) == expected)
      #expect(try ledger(path).encoded() == expected.encoded())
    }
  }

  @Test("a message of Google Play and a notification of the App Store with the same identifier are two")
  func identifiers() throws {
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    let uuid = try #require(story.received[0].uuid?.rawValue)
    try withFile { path in
      let store = try EntitlementStore(at: path)
      #expect(try store.record(messageId: uuid, EntitlementLedger()))
      #expect(try store.record(story.received[0]))
    }
  }

  @Test(
    "any object in the file that is not of the layout is refused, in a file of layout 1 before it is upgraded as well",
    arguments: [
      "CREATE TRIGGER copies AFTER INSERT ON ledgers BEGIN SELECT 1; END",
      "CREATE VIEW seen AS SELECT * FROM ledgers", "CREATE INDEX copied ON ledgers(ledger)",
      "ALTER TABLE ledgers ADD COLUMN copy BLOB", "CREATE TABLE more(key BLOB)", "DROP TABLE notifications",
    ])
  func foreignObjects(_ sql: String) throws {
    for isOld in [false, true] {
      try withFile { path in
        if isOld { try makeOldFile(path, []) } else { _ = try EntitlementStore(at: path) }
        let connection = try Connection(
          DatabaseFile(path), .writing, timeout: BusyTimeout(.seconds(10)), pragmas: "")
        try connection.use { try $0.execute(sql) }
        try connection.close()
        let error = #expect(throws: SQLiteError.self) { try EntitlementStore(at: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("estore a backup") == true)
      }
    }
  }

  /// A file as the build before this layout made it.
  private func makeOldFile(_ path: String, _ ledgers: [(name: String, ledger: EntitlementLedger)]) throws {
    let file = try DatabaseFile(path)
    try file.create { file in
      let connection = try Connection(
        file, .writing, timeout: BusyTimeout(.zero), pragmas: "PRAGMA page_size = 4096;")
      try connection.use { database in
        try database.execute("PRAGMA journal_mode = WAL")
        try database.execute(
          """
          CREATE TABLE notifications(key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
          CREATE TABLE ledgers(key BLOB PRIMARY KEY, ledger BLOB NOT NULL) STRICT, WITHOUT ROWID;
          INSERT INTO notifications(key) VALUES (x'3161');
          PRAGMA application_id = 1380664654; PRAGMA user_version = 1
          """)
        for (name, ledger) in ledgers {
          try database.withStatement("INSERT INTO ledgers(key, ledger) VALUES (?1, ?2)") { statement in
            try statement.bind(Array(name.utf8), at: 1)
            try statement.bind(ledger.encoded(), at: 2)
            _ = try statement.step()
          }
        }
      }
      try connection.close()
    }
  }

  @Test("a file of layout 1 is upgraded when it is opened, and keeps what it has")
  func upgrade() throws {
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
    var before = EntitlementLedger()
    before.apply(story.received[0])
    try withFile { path in
      try makeOldFile(path, [(try #require(before.parts.first?.name), before)])
      #expect(try ledger(path) == before)
      let store = try EntitlementStore(at: path)
      #expect(try store.record(story.received[1]))
      let change = try #require(try Self.changes().first)
      #expect(try store.record(messageId: "m1", change))
      var expected = story.ledger
      expected.merge(change)
      #expect(try ledger(path) == expected)
      let connection = try Connection(
        try DatabaseFile(path), .reading, timeout: BusyTimeout(.zero), pragmas: "")
      let version = try connection.use { try $0.integer("PRAGMA user_version") }
      #expect(version == 2)
      let notifications = try connection.use { try $0.integer("SELECT count(*) FROM notifications") }
      #expect(notifications == 2)
    }
  }

  @Test("two processes may upgrade a file at once")
  func concurrentUpgrade() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "state.sqlite").path
    try makeOldFile(path, [])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<8 {
        group.addTask {
          let isNew = try EntitlementStore(at: path).record(messageId: "m\(index)", EntitlementLedger())
          #expect(isNew)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("a file of another layout is refused, and left as it is")
  func otherLayout() throws {
    try withFile { path in
      try makeOldFile(path, [])
      let connection = try Connection(
        try DatabaseFile(path), .writing, timeout: BusyTimeout(.zero), pragmas: "")
      try connection.use { try $0.execute("CREATE TABLE other(key BLOB) STRICT") }
      let error = #expect(throws: SQLiteError.self) { try EntitlementStore(at: path) }
      #expect(error?.code == .corrupt)
      #expect(try connection.use { try $0.integer("PRAGMA user_version") } == 1)
    }
  }
}
