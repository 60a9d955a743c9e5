// SPDX-License-Identifier: Apache-2.0

import Entitlements
import EntitlementsSQLite
import Foundation
import ReceiptCodec
import ReceiptTesting
import Testing

/// The ledger in a file, with the notifications that were dealt with.
@Suite struct EntitlementStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private let story: Story

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
    try story.notify(.refund, day: 31, Story.period(2) { $0.revocationDate = Story.day(31) }, Story.renewal())
    self.story = story
  }

  private var path: String { folder.appending(path: "state.sqlite").path }

  private func ledger(_ store: EntitlementStore) throws -> EntitlementLedger {
    var all = EntitlementLedger()
    try store.forEachLedger { all.merge($0) }
    return all
  }

  @Test("in any order, with repetitions and openings in between, the ledger is that of all notifications")
  func folded() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for notification in story.received.reversed() {
      let store = try EntitlementStore(at: path)
      #expect(try !store.isRecorded(notification))
      #expect(try store.record(notification))
      #expect(try store.isRecorded(notification))
      #expect(try !store.record(notification))
    }
    #expect(try ledger(EntitlementStore(at: path)) == story.ledger)
    #expect(try ledger(EntitlementStore(at: path)).encoded() == story.ledger.encoded())
  }

  @Test("two that have the file open record each notification once, and see what the other did")
  func shared() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let stores = try [EntitlementStore(at: path), EntitlementStore(at: path)]
    for (index, notification) in story.received.enumerated() {
      #expect(try stores[index % 2].record(notification))
      #expect(try !stores[(index + 1) % 2].record(notification))
    }
    #expect(try ledger(stores[0]) == story.ledger)
  }

  @Test("a file that is no longer under its name takes nothing")
  func replaced() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try EntitlementStore(at: path)
    try FileManager.default.removeItem(atPath: path)
    #expect(throws: (any Error).self) { try store.record(story.received[0]) }
  }
}
