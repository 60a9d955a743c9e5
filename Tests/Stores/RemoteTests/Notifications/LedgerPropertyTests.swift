// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import Entitlements
import ReceiptTesting
import ReceiptVerification
import Testing

/// The properties that hold for every stream of events. The seed is in the failure's message.
@Suite struct LedgerPropertyTests {
  private struct Expected {
    let ledger: EntitlementLedger
    let encoded: [UInt8]
    let seed: UInt64

    init(_ events: [StreamEvent], seed: UInt64) {
      self.ledger = EntitlementLedger(events)
      self.encoded = ledger.encoded()
      self.seed = seed
    }
  }

  private func expectSame(
    _ ledger: EntitlementLedger, _ expected: Expected, _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if ledger != expected.ledger || ledger.encoded() != expected.encoded {
      Issue.record("\(what), seed \(expected.seed)", sourceLocation: sourceLocation)
    }
  }

  private func expectSameStates(
    _ ledger: EntitlementLedger, _ expected: Expected, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (left, right) in zip(ledger.entitlements, expected.ledger.entitlements) {
      for day in stride(from: 0.5, to: 13, by: 1)
      where left.state(at: Story.day(day)) != right.state(at: Story.day(day)) {
        Issue.record("state on day \(day), seed \(expected.seed)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test("any order, repetition, grouping and interruption gives the same ledger, whatever the events")
  func hostileStreams() throws {
    for seed in 0..<2000 as Range<UInt64> {
      var generator = StreamGenerator(seed: seed)
      let events = generator.hostile()
      let expected = Expected(events, seed: seed)
      expectSame(EntitlementLedger(events.reversed()), expected, "reversed")
      let shuffled = EntitlementLedger((events + events).shuffled(using: &generator.random))
      expectSame(shuffled, expected, "shuffled, each twice")
      expectSameStates(shuffled, expected)

      var parts = [EntitlementLedger](repeating: EntitlementLedger(), count: 3)
      for event in events {
        for part in parts.indices where part == 0 || Bool.random(using: &generator.random) {
          parts[(part + events.count) % 3].purchases.join(event.line, to: event.id)
        }
      }
      let (a, b, c) = (parts[0], parts[1], parts[2])
      expectSame(merged(merged(a, b), c), expected, "merged to the left")
      expectSame(merged(c, merged(b, a)), expected, "merged to the right")
      expectSame(merged(expected.ledger, shuffled), expected, "merged with itself")
      expectSame(merged(expected.ledger, EntitlementLedger()), expected, "merged with nothing")

      // Stored and read again halfway.
      let half = EntitlementLedger(events.prefix(events.count / 2))
      var resumed = try EntitlementLedger(decoding: half.encoded())
      for event in events.dropFirst(events.count / 2) { resumed.purchases.join(event.line, to: event.id) }
      expectSame(resumed, expected, "stored halfway")
    }
  }

  private func merged(_ left: EntitlementLedger, _ right: EntitlementLedger) -> EntitlementLedger {
    var merged = left
    merged.merge(right)
    return merged
  }

  @Test("the state is that of replaying all events in the order of signing")
  func plausibleStreams() throws {
    var seen: Set<Entitlement.State> = []
    for seed in 0..<2000 as Range<UInt64> {
      var generator = StreamGenerator(seed: seed)
      let events = generator.plausible()
      let ledger = EntitlementLedger(events.shuffled(using: &generator.random))
      for id in Set(events.map(\.id)) {
        let entitlement = try #require(ledger[id])
        let replay = SigningOrderReplay(events, of: id)
        for day in stride(from: 0.25, to: 250, by: 4.5) {
          let state = entitlement.state(at: Story.day(day))
          let replayed = replay.state(at: Story.day(day))
          seen.insert(state)
          guard state != replayed else { continue }
          Issue.record("seed \(seed), \(id), day \(day): \(state), replayed \(String(describing: replayed))")
          break
        }
      }
    }
    #expect(seen == Set(Entitlement.State.allCases))
  }

  @Test("the state changes only at the instants of nextChange")
  func nextChange() throws {
    for seed in 0..<500 as Range<UInt64> {
      var generator = StreamGenerator(seed: seed)
      for entitlement in EntitlementLedger(generator.hostile()).entitlements {
        var instant = Story.day(-1)
        for day in stride(from: -0.5, to: 90, by: 0.5) {
          let next = entitlement.nextChange(after: instant)
          let state = entitlement.state(at: instant)
          let later = entitlement.state(at: Story.day(day))
          if state != later, next.map({ $0 > Story.day(day) }) ?? true {
            Issue.record("seed \(seed), day \(day): \(state) became \(later) unannounced")
          }
          instant = Story.day(day)
        }
      }
    }
  }

  @Test("ten thousand renewals, some refunded, take no more memory than one")
  func bounded() throws {
    var ledger = EntitlementLedger()
    var greatest = 0
    for number in 1...10_000 {
      let transaction = Story.period(number) {
        $0.signedDate = $0.purchaseDate
        if number % 7 == 0 { $0.revocationDate = $0.purchaseDate }
      }
      let event = StreamEvent(
        id: Story.id,
        notification: Notification().with {
          $0.notificationType = number % 7 == 0 ? .refund : .didRenew
          $0.notificationUUID = UUIDString(rawValue: "\(number)")
          $0.signedDate = transaction.purchaseDate
          $0.data = NotificationData().with {
            $0.status = .active
          }
        },
        transaction: transaction, renewalInfo: Story.renewal { $0.signedDate = transaction.purchaseDate })
      ledger.purchases.join(event.line, to: event.id)
      if number % 500 == 0 { greatest = max(greatest, ledger.encoded().count) }
    }
    #expect(ledger.count == 1)
    #expect(greatest < 3000)
    #expect(ledger[Story.id]?.transactionId == "2000010000")
    #expect(ledger[Story.id]?.state(at: Story.day(299_999)) == .active)
  }
}
