// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptTesting
import Testing

@Suite struct SeenNotificationsTests {
  private let clock = FixedClock(SampleReceipts.signedAt)

  private func uuid(_ number: Int) -> UUIDString {
    UUIDString(rawValue: "00000000-0000-4000-8000-\(100_000_000_000 + number)")
  }

  @Test("a second delivery is detected, in either case of the UUID, for eight days by default")
  func repetition() {
    let seen = SeenNotifications(clock: clock.reading)
    let lower = UUIDString(rawValue: "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11")
    #expect(seen.insert(lower))
    clock.advance(seconds: 157 * 3600)
    #expect(!seen.insert(lower))
    #expect(!seen.insert(UUIDString(rawValue: lower.rawValue.uppercased())))
    #expect(seen.insert(uuid(1)))
    clock.advance(seconds: 35 * 3600 + 1)
    #expect(seen.insert(lower))
    #expect(seen.count == 2)
  }

  @Test("a real notification delivered twice")
  func notification() throws {
    let receiver = NotificationReceiver(verifier: try Story.verifier())
    let body = Array(try TestReceipts().signedNotification().utf8)
    let seen = SeenNotifications(clock: clock.reading)
    #expect(seen.insert(try receiver.receive(body)))
    #expect(!seen.insert(try receiver.receive(body)))
    seen.remove(try receiver.receive(body))
    #expect(seen.insert(try receiver.receive(body)))
  }

  @Test("the oldest is evicted when it is full, whatever was removed in between")
  func bounded() {
    let seen = SeenNotifications(maximumCount: 100, clock: clock.reading)
    for number in 0..<10_000 {
      #expect(seen.insert(uuid(number)))
      if number % 3 == 0 { seen.remove(uuid(number)) }
      #expect(seen.count <= 100)
    }
    #expect(!seen.insert(uuid(9_998)))
    #expect(!seen.insert(uuid(9_901)))
    #expect(seen.insert(uuid(9_800)))
  }

  @Test("one that was removed and added again is kept as long as any other")
  func takenBack() {
    let seen = SeenNotifications(maximumCount: 3, clock: clock.reading)
    #expect(seen.insert(uuid(1)))
    seen.remove(uuid(1))
    #expect(seen.insert(uuid(2)))
    #expect(seen.insert(uuid(1)))
    #expect(seen.insert(uuid(3)))
    #expect(!seen.insert(uuid(1)))
  }

  @Test("a notification without a usable identifier never counts as a duplicate")
  func withoutIdentifier() {
    let seen = SeenNotifications(clock: clock.reading)
    let long = UUIDString(rawValue: String(repeating: "a", count: 65))
    for _ in 0..<2 {
      #expect(seen.insert(nil as UUIDString?))
      #expect(seen.insert(UUIDString(rawValue: "")))
      #expect(seen.insert(long))
    }
    #expect(seen.count == 0)
  }

  @Test("of many concurrent deliveries exactly one is the first")
  func concurrent() async {
    let seen = SeenNotifications(clock: clock.reading)
    let firsts = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<500).count { seen.insert(uuid($0)) } }
      }
      return await group.reduce(0, +)
    }
    #expect(firsts == 500)
  }
}
