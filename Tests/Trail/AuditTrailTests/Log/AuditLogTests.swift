// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct AuditLogTests {
  @Test(
    "entries get consecutive indexes, and are read back as they were entered",
    arguments: [1, 7, 255, 256, 257, 1000])
  func appends(batch: Int) async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    let records = TrailFixture.records(0..<1030)
    var next: UInt64 = 0
    for start in stride(from: 0, to: records.count, by: batch) {
      let part = Array(records[start..<min(start + batch, records.count)])
      for acknowledgement in try await log.append(part) {
        #expect(acknowledgement.index == next && !acknowledgement.isRepeat)
        next += 1
      }
    }
    for log in [log, try fixture.open()] {
      try log.withView { view in
        #expect(view.size == 1030)
        for number in [0, 9, 10, 254, 255, 256, 511, 512, 1023, 1024, 1029] {
          let recorded = try view.entry(at: UInt64(number))
          #expect(recorded.entry.transaction == records[number].transaction)
          #expect(recorded.entry.previous == (number >= 10 ? UInt64(number) - 10 : nil))
          #expect(try view.erasablePart(at: UInt64(number))?.receipt == records[number].receiptBytes)
        }
      }
    }
  }

  @Test("however entries are batched, the root is the same")
  func batchingDoesNotMatter() async throws {
    // Without erasable parts, whose salts are random.
    let records = TrailFixture.records(0..<600).map { AuditRecord($0.facts) }
    var roots: Set<TreeHash> = []
    for batch in [1, 100, 600] {
      let log = try TrailFixture().create()
      for start in stride(from: 0, to: records.count, by: batch) {
        try await log.append(Array(records[start..<min(start + batch, records.count)]))
      }
      try log.withView { _ = roots.insert($0.root) }
    }
    #expect(roots.count == 1)
  }

  @Test("the same verdict of the same receipt under the same policy is entered once, also after opening anew")
  func exactlyOnce() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<300))
    let again = TrailFixture.records(0..<300) + [TrailFixture.record(300)]
    for log in [log, try fixture.open()] {
      let acknowledgements = try await log.append(again)
      #expect(acknowledgements.map(\.index) == Array(0...300))
      #expect(acknowledgements.filter(\.isRepeat).count >= 300)
    }
    // Within one batch too.
    let twice = try await log.append([TrailFixture.record(301), TrailFixture.record(301)])
    #expect(twice == [.init(index: 301, isRepeat: false), .init(index: 301, isRepeat: true)])
    // Another verdict or policy is another entry.
    var other = TrailFixture.record(5)
    other.facts.verdict = .invalid
    #expect(try await log.append([other]).map(\.index) == [302])
    other.facts.policy = SHA256Digest(of: [9])
    #expect(try await log.append([other]).map(\.index) == [303])
  }

  @Test("of several verdicts of one receipt in a batch, each is entered once")
  func exactlyOnceInABatch() async throws {
    let log = try TrailFixture().create()
    let verdicts: [RecordedVerdict] = [.valid, .invalid, .undetermined, .valid, .undetermined, .invalid]
    let acknowledgements = try await log.append(
      verdicts.map { verdict in
        var record = TrailFixture.record(1)
        record.facts.verdict = verdict
        return record
      })
    #expect(acknowledgements.map(\.index) == [0, 1, 2, 0, 2, 1])
    #expect(acknowledgements.map(\.isRepeat) == [false, false, false, true, true, true])
  }

  @Test("a record with an identifier is entered once for it, whatever else it says, also after opening anew")
  func onceForAnIdentifier() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    let command = EntryKind(rawValue: "command")
    func record(_ id: String, kind: EntryKind = command, original: String? = nil) -> AuditRecord {
      AuditRecord(EntryFacts(time: 1, kind: kind, id: id, original: original))
    }
    let first = (0..<300).map { record("command \($0)") }
    #expect(try await log.append(first).allSatisfy { !$0.isRepeat })
    for log in [log, try fixture.open()] {
      let again = try await log.append((0..<300).map { record("command \($0)", original: "other") })
      #expect(again.map(\.index) == Array(0..<300))
      #expect(again.allSatisfy { $0.isRepeat })
    }
    // Another kind is another record; so is another spelling of the same text.
    let others = [
      record("command 1", kind: .verdict), record("\u{E9}"), record("e\u{301}"),
      record("\u{E9}", original: "1"),
    ]
    #expect(try await log.append(others).map(\.index) == [300, 301, 302, 301])
    // Without identifier and receipt, nothing is a repeat.
    let nameless = AuditRecord(EntryFacts(time: 1, kind: command, original: "1"))
    #expect(try await log.append([nameless, nameless]).map(\.index) == [303, 304])
    #expect(try log.withView { try $0.entry(at: 1).entry.original } == nil)
  }

  @Test("a record with an identifier and a receipt is found by the receipt, and the trail is clean")
  func identifierBesideReceipt() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    let records = TrailFixture.records(0..<600).map { record in
      var record = record
      record.facts.id = "id of \(record.transaction ?? "")"
      return record
    }
    try await log.append(records)
    try log.publishCheckpoint()
    for log in [log, try fixture.open()] {
      #expect(try await log.append(records).map(\.index) == Array(0..<600))
      for number in [7, 599] {
        let digest = try #require(records[number].receipt)
        let found = try log.withView { try $0.entries(receipt: digest).map(\.index) }
        #expect(found == [UInt64(number)])
      }
    }
    let report = try TrailChecker(
      storage: fixture.storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
    ).check()
    #expect(report.faults == [])
  }

  @Test("every entry names the one before it of its original transaction, in whatever run and page that is")
  func previousEntries() async throws {
    let log = try TrailFixture().create()
    var newest: [Int: UInt64] = [:]
    var expected: [UInt64?] = []
    var records: [AuditRecord] = []
    for number in 0..<6000 {
      // Of 1,700 in no order, each at least three times.
      let original = number * 7919 % 1700
      expected.append(newest.updateValue(UInt64(number), forKey: original))
      records.append(TrailFixture.record(number, original: "\(original)"))
    }
    // In the large batches some have the one before them in the same batch.
    var rest = records[...]
    for count in [500, 500, 500, 500, 2000, 2000] {
      try await log.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let found = try log.withView { view in
      try (0..<UInt64(expected.count)).map { try view.entry(at: $0).entry.previous }
    }
    #expect(found == expected)
  }

  @Test("with a window, a verdict is entered again after it")
  func window() async throws {
    let log = try TrailFixture().create(once: .seconds(60))
    func append(at time: Int64) async throws -> AuditAcknowledgement {
      try await log.append([TrailFixture.record(1, time: time)])[0]
    }
    #expect(try await append(at: 1_000_000) == .init(index: 0, isRepeat: false))
    #expect(try await append(at: 1_060_000) == .init(index: 0, isRepeat: true))
    #expect(try await append(at: 1_060_001) == .init(index: 1, isRepeat: false))
    #expect(try await append(at: 1_100_000) == .init(index: 1, isRepeat: true))
  }

  @Test("with a window, an identifier is entered again after it")
  func windowOfAnIdentifier() async throws {
    let log = try TrailFixture().create(once: .seconds(60))
    for (time, index): (Int64, UInt64) in [(1_000_000, 0), (1_060_000, 0), (1_060_001, 1), (1_100_000, 1)] {
      let record = AuditRecord(EntryFacts(time: time, kind: .verdict, id: "1"))
      #expect(try await log.append([record]).map(\.index) == [index])
    }
  }

  @Test("a window of any length that can be configured is computed without overflow, at any time")
  func longestWindow() async throws {
    for seconds in [0, -1, Int64.min, TrailConfiguration.OnceWindow.longest + 1, .max] {
      #expect(throws: AuditError.self) {
        try TrailConfiguration(origin: "example.com/x", once: .seconds(seconds))
      }
    }
    for seconds in [1, TrailConfiguration.OnceWindow.longest] {
      let log = try TrailFixture().create(once: .seconds(seconds))
      for time in [-9_000_000_000_000_000, -1_000_000, 0, 9_000_000_000_000_000] {
        try await log.append([
          TrailFixture.record(1, time: Int64(time)), TrailFixture.record(1, time: Int64(time)),
        ])
      }
      // The first entry has the time 0, because no entry has a time before 1970.
      #expect(try log.statistics().entryCount == (seconds == 1 ? 2 : 1))
    }
  }

  @Test("time never runs backwards")
  func time() async throws {
    let log = try TrailFixture().create()
    try await log.append([TrailFixture.record(1, time: 5000), TrailFixture.record(2, time: 3000)])
    let second = try log.withView { try $0.entry(at: 1) }
    #expect(second.entry.time == 5000)
  }

  @Test("every entry is proved by a file that needs only the public key")
  func proofs() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<700))
    try log.publishCheckpoint()
    try await log.append(TrailFixture.records(700..<900))
    try log.withView { view in
      for index in stride(from: UInt64(0), to: 700, by: 13) {
        let file = try view.proof(of: index).encoded
        let proof = try LogProof(parsing: file)
        let entry = try #require(proof.extra)
        #expect(try proof.verify(entry: entry, by: fixture.signer.verifierKey).index == index)
        #expect(try AuditEntry(parsing: entry).transaction == "\(20_000 + index)")
      }
      #expect(throws: AuditError.self) { try view.proof(of: 700) }
      let proof = try view.consistencyProof(from: 700, to: 900)
      try MerkleTree.verifyConsistency(
        from: 700, oldRoot: try view.root(size: 700), to: 900, root: view.root, proof: proof)
    }
  }

  @Test("a closed trail that is opened again goes on where it was; its checkpoint covers all")
  func reopening() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    try log.publishCheckpoint()
    let reopened = try fixture.open()
    try await reopened.append(TrailFixture.records(10..<20))
    // The first log of the trail sees what the second entered, and goes on after it.
    #expect(try await log.append([TrailFixture.record(20)])[0].index == 20)
    try reopened.withView { #expect($0.size == 21) }
    #expect(try reopened.publishCheckpoint().checkpoint.size == 21)
    #expect(try log.publishCheckpoint().checkpoint.size == 21)
  }
}

@Suite struct AuditLogLookupTests {
  @Test("entries are found by transaction, original transaction, receipt, product, customer and time")
  func lookups() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    for start in stride(from: 0, to: 800, by: 100) {
      try await log.append(
        (start..<start + 100).map { TrailFixture.record($0, token: "customer \($0 % 7)") })
    }
    for log in [log, try fixture.open()] {
      try log.withView { view in
        let line = try view.history(original: "1003").map(\.index)
        #expect(line == stride(from: 793, through: 3, by: -10).map { UInt64($0) })
        #expect(try view.history(original: "1003", before: 403, limit: 2).map(\.index) == [393, 383])
        #expect(try view.history(original: "none").isEmpty)
        #expect(try view.entries(transaction: "20005").map(\.index) == [5])
        #expect(try view.entries(receipt: SHA256Digest(of: Array("77".utf8))).map(\.index) == [77])
        let product = try view.entries(product: "com.example.1").map(\.index)
        let expected: [UInt64] = (0..<800).reversed().filter { $0 % 3 == 1 }
        #expect(product == expected)
        #expect(try view.entries(product: "com.example.1", before: 300, limit: 2).map(\.index) == [298, 295])
        let customer = try view.entries(customer: "customer 4").map(\.index)
        let theirs: [UInt64] = (0..<800).reversed().filter { $0 % 7 == 4 }
        #expect(customer == theirs)
        let timed = try view.entries(time: 1_760_000_000_010...1_760_000_000_013).map(\.index)
        #expect(timed == [10, 11, 12, 13])
      }
    }
  }

  @Test("what is looked up is compared by its bytes, not by canonical equivalence")
  func composedAndDecomposed() async throws {
    let log = try TrailFixture().create()
    let names = ["Ren\u{E9}", "Rene\u{301}"]
    try await log.append(
      names.enumerated().map { number, name in
        var record = TrailFixture.record(number, original: name, token: name)
        (record.facts.transaction, record.facts.product) = (name, name)
        return record
      })
    for (number, name) in names.enumerated() {
      let found = try log.withView { view in
        try [
          view.entries(customer: name), view.entries(product: name), view.entries(transaction: name),
          view.history(original: name),
        ].map { $0.map(\.index) }
      }
      #expect(found == [[UInt64]](repeating: [UInt64(number)], count: 4))
    }
  }

  @Test("an erased part is gone, and every proof stays")
  func erasure() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append((0..<300).map { TrailFixture.record($0, token: "customer \($0 % 2)") })
    try log.publishCheckpoint()
    let proofs = try log.withView { view in try [5, 280].map { try view.proof(of: $0) } }
    #expect(try await log.erase(entry: 5).index == 300)
    #expect(try await log.erase(entry: 280).index == 301)
    let again = try await log.erase(entries: [280, 5, 5])
    #expect(again.map(\.index) == [301, 300, 300] && again.allSatisfy(\.isRepeat))
    await #expect(throws: AuditError.self) { try await log.erase(entry: 300) }
    for log in [log, try fixture.open()] {
      try log.withView { view in
        #expect(try view.erasablePart(at: 5) == nil)
        #expect(try view.erasablePart(at: 280) == nil)
        #expect(try view.erasablePart(at: 6)?.customerToken == "customer 0")
        #expect(try view.entry(at: 300).entry.erased == 5)
        #expect(try view.history(original: "1005", limit: 1).map(\.index) == [300])
        let found = try view.entries(customer: "customer 1").map(\.index)
        #expect(found.contains(7) && !found.contains(5))
        for proof in proofs {
          let entry = try view.entry(at: proof.index)
          _ = try proof.verify(entry: entry.bytes, by: fixture.signer.verifierKey)
        }
      }
    }
  }

  @Test("what another process erased does not come back with the bundle that this one closes")
  func erasureByAnother() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append((0..<20).map { TrailFixture.record($0, token: "customer \($0 % 2)") })
    try await fixture.open().erase(entry: 5)
    try await log.append((20..<600).map { TrailFixture.record($0, token: "customer \($0 % 2)") })
    for log in [log, try fixture.open()] {
      try log.withView { view in
        #expect(try view.erasablePart(at: 5) == nil)
        let found = try view.entries(customer: "customer 1").map(\.index)
        #expect(found.contains(7) && !found.contains(5))
      }
    }
    try log.publishCheckpoint()
    let checker = TrailChecker(
      storage: fixture.storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    #expect(try checker.check().faults.isEmpty)
  }

  @Test("an anchor says which entry is the newest and how many there are")
  func anchors() async throws {
    let log = try TrailFixture().create()
    try await log.append(TrailFixture.records(0..<25))
    #expect(try await log.anchor(original: "1003").index == 25)
    try log.withView { view in
      let anchor = try view.entry(at: 25).entry
      #expect(anchor.size == 25)
      #expect(anchor.newest == 23)
      #expect(anchor.count == 3)
      #expect(anchor.previous == 23)
    }
    #expect(try await log.anchor(original: "unknown").index == 26)
    let unknown = try log.withView { try $0.entry(at: 26) }
    #expect(unknown.entry.count == 0)
  }
}
