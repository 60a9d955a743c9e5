// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import Entitlements
  import Foundation
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptSigning
  @testable import ReceiptService
  import ReceiptTesting
  import Testing
  import TransparencyLog

  @Suite("Console home")
  struct ConsoleHomeTests {
    private typealias Count = DatabaseActivity.Count

    @Test("Entries are counted by the hour and by verdict, and read up to a limit")
    func trail() async throws {
      let now = ServiceFixture.day(100)
      let log = try AuditLog.create(
        in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"),
        signer: try NoteSignerKey.generate(name: "example.com/test"), checkpoints: MemoryCheckpointStore())
      // Older ones first: two days, 23.5 hours, an hour and a bit, a minute ago.
      let ages: [(Double, RecordedVerdict, String?)] = [
        (172_800, .valid, nil), (84_600, .valid, nil), (3700, .invalid, nil), (60, .undetermined, nil),
        (30, .invalid, "REFUND"), (0, .valid, "REFUND"),
      ]
      for (number, (age, verdict, notification)) in ages.enumerated() {
        let facts = EntryFacts(
          time: now.addingSeconds(-age).milliseconds, kind: .verdict, id: "\(number)",
          notification: notification, bundle: number == 3 ? "other" : "shop", verdict: verdict)
        try await log.append([AuditRecord(facts)])
      }
      let all = try await log.read { try TrailActivity(in: $0, at: now, for: { _ in true }) }
      #expect((all.day.valid, all.day.invalid, all.day.undetermined) == (2, 2, 1))
      #expect((all.hour.valid, all.hour.invalid, all.hour.undetermined) == (1, 1, 1))
      #expect(all.day.refusedNotifications == 1)
      #expect(all.day.isComplete && all.hour.isComplete)
      #expect(all.hours.count == 24 && all.hours.reduce(0, +) == 5)
      #expect((all.hours[0], all.hours[22], all.hours[23]) == (1, 1, 3))

      let shop = try await log.read { try TrailActivity(in: $0, at: now, for: { $0.bundle == "shop" }) }
      #expect(shop.day.count == 4 && shop.hour.count == 2)

      // Of the newest two entries alone, the last hour has more.
      let limited = try await log.read { try TrailActivity(in: $0, at: now, for: { _ in true }, limit: 2) }
      #expect(limited.day.count == 2 && !limited.day.isComplete && !limited.hour.isComplete)
      #expect(limited.hours == all.hours)
      let enough = try await log.read { try TrailActivity(in: $0, at: now, for: { _ in true }, limit: 3) }
      #expect(enough.hour == all.hour && enough.hour.isComplete && !enough.day.isComplete)

      let later = try await log.read {
        try TrailActivity(in: $0, at: now.addingSeconds(10 * 86_400), for: { _ in true })
      }
      #expect(later.day == TrailActivity.Tally() && later.hours.allSatisfy { $0 == 0 })
      try log.close()
    }

    @Test("Notifications and deliveries are counted up to a limit", arguments: DatabaseKind.all)
    func database(kind: DatabaseKind) async throws {
      let endpoint = WebhookEndpoint(name: "backend", url: "https://example.com", secrets: [])
      try await withService(on: kind, webhooks: [endpoint]) { fixture in
        let now = fixture.clock.reading()
        let app = fixture.app
        try await fixture.database.write { session in
          for (number, age) in [10.0, 20, 4000, 90_000].enumerated() {
            try session.run(
              "INSERT INTO notifications(app, key, received) VALUES ($1, $2, $3)",
              .text(number == 1 ? "other" : "shop"), .bytes([UInt8(number)]),
              .integer(now.addingSeconds(-age).milliseconds))
          }
          for number in 0..<5 {
            let sequence = try session.integer(
              """
              INSERT INTO changes(id, app, name, time, type, body) VALUES ($1, 'shop', 'n', $2, 't', $3)
              RETURNING sequence
              """, .text("msg_\(number)"), .integer(now.addingSeconds(-1000 + Double(number)).milliseconds),
              .bytes([]))
            try session.run(
              """
              INSERT INTO deliveries(app, endpoint, change, lane, state, attempts)
              VALUES ('shop', 'backend', $1, 'l', $2, 0)
              """, .integer(sequence), .integer(number == 0 ? 1 : 0))
          }
        }
        func activity(isEverything: Bool, limit: Int = 100) async throws -> DatabaseActivity {
          try await fixture.database.read { session in
            try DatabaseActivity(
              of: [app], isEverything: isEverything, at: now, in: session, limit: limit)
          }
        }
        let all = try await activity(isEverything: true)
        #expect(all.notificationsOfHour == Count(value: 2))
        #expect(all.notificationsOfDay == Count(value: 3))
        #expect(all.waiting == Count(value: 4) && all.dead == Count(value: 1))
        #expect(all.endpoints.first?.waitingSince == now.addingSeconds(-999))
        let own = try await activity(isEverything: false)
        #expect(own.notificationsOfHour == Count(value: 1) && own.notificationsOfDay == Count(value: 2))
        let limited = try await activity(isEverything: true, limit: 2)
        #expect(limited.notificationsOfHour == Count(value: 2))
        #expect(limited.notificationsOfDay == Count(value: 2, isLeast: true))
        #expect(limited.waiting.text == "2+" && limited.dead.text == "1")
        #expect(try await activity(isEverything: false, limit: 2).notificationsOfDay.isLeast)
      }
    }

    @Test(
      "The expiry of a certificate file is that of its first certificate to expire; other files have none")
    func certificates() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let authority = try TestAuthority.es256()
      let file = folder.appending(path: "chain.pem")
      let chain = authority.identity.chain + [authority.root]
      let pem = chain.map { certificate in
        "-----BEGIN CERTIFICATE-----\n\(Data(certificate.der).base64EncodedString())\n-----END CERTIFICATE-----\n"
      }
      try Data(pem.joined().utf8).write(to: file)
      #expect(
        HomePage.expiry(ofFile: file.path)
          == chain.map(\.notAfter).min().map { Timestamp(secondsSince1970: $0) })
      #expect(HomePage.expiry(ofFile: "/nothing") == nil)
      #expect(HomePage.expiry(ofFile: "/etc/hostname") == nil)
    }

    @Test("Whole numbers have separators")
    func numbers() {
      #expect(
        [0, 999, 1000, 1_234_567, -1000].map(ShownNumber.text) == [
          "0", "999", "1,000", "1,234,567", "−1,000",
        ])
    }

    @Test("An axis ends at a round number, and its steps are round")
    func axes() {
      for (value, top, steps) in [
        (0.0, 1.0, 5), (1, 1, 5), (1.1, 2, 4), (2.1, 5, 5), (7, 10, 5), (10.5, 20, 4), (499, 500, 5),
        (501, 1000, 5),
      ] {
        let (foundTop, foundSteps) = BarChart.ceiling(value, least: 1)
        #expect(foundTop == top && foundSteps == steps, "\(value)")
      }
    }
  }
#endif
