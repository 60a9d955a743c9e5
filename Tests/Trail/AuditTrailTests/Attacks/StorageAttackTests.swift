// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import FoundationEssentials
import ReceiptCrypto
import Testing
import TransparencyLog

@testable import AuditTrail
@testable import FingerprintIndex

/// An attacker with the storage, but no signing key, can make an operation fail, but never make its result wrong.
@Suite struct StorageAttackTests {
  static let isFull = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] != nil

  #if ADDRESS_SANITIZER
    // Each question costs several; the ordinary run asks about all of these.
    private static let fileStride = 18
  #else
    private static let fileStride = 6
  #endif

  @Test("the trail under attack has rows of every sort, and what is asked of it has answers")
  func untouched() async throws {
    let trail = try await AttackedTrail.shared.value
    for table in StorageTable.allCases where table != .tiles {
      #expect(try !trail.genuine.keys(table).isEmpty)
    }
    let catalogue = try trail.genuine.read { reader in
      let row = try #require(try reader.value(.runs, 0))
      return try IndexCatalogue(SHA256Digest(of: row.span), in: IndexRows(base: reader))
    }
    #expect(catalogue.merges.count == 4 && !catalogue.garbage.isEmpty && catalogue.runs.count > 30)
    let truth = try await TrailTruth.shared.value
    let empty = truth.reading.filter { $0.answer.isEmpty }.map(\.question.name)
    #expect(empty == ["history of absent", "forgotten", "absent"])
    #expect(truth.reading.count { $0.answer.contains("granted before") } == 2)
    #expect(truth.reading.count { $0.answer == "none" } == AttackedTrail.erased.count + 1)
    let faults = try TrailChecker(
      storage: trail.genuine.copy(), verifier: trail.signer.verifierKey, checkpoints: trail.checkpoints()
    ).check().faults
    #expect(faults == [])
  }

  @Test("no edit of any row changes an answer without an error")
  func edits() async throws {
    let trail = try await AttackedTrail.shared.value
    let truth = try await TrailTruth.shared.value
    let edits = DirectedEdit.all
    let places = Self.isFull ? 6 : 1
    let findings = try await withThrowingTaskGroup(of: AttackFindings.self) { group in
      for worker in 0..<2 {
        group.addTask {
          var attacker = try await Attacker(trail, truth, isThorough: Self.isFull)
          for number in edits.indices where number % 2 == worker {
            for place in 0..<places {
              try await attacker.attack(edits[number], number, place: place + number)
            }
          }
          return attacker.findings
        }
      }
      return try await group.reduce(into: AttackFindings()) { $0.add($1) }
    }
    #expect(findings.checks >= (Self.isFull ? 100_000 : 2_000))
    let unnoticed = DirectedEdit.directed.map(\.name).filter { findings.noticed[$0] == nil }
    #expect(unnoticed.count < DirectedEdit.directed.count / 4, "\(unnoticed)")
  }

  @Test("no edit of a row of a file changes an answer without an error")
  func file() async throws {
    let trail = try await AttackedTrail.shared.value
    var attacker = try await Attacker(trail, TrailTruth.shared.value, isThorough: Self.isFull)
    let fixture = try StorageFixture.sqlite()
    let another = try #require(fixture.another)
    let edits = DirectedEdit.all
    for number in stride(from: 0, to: edits.count, by: Self.isFull ? 1 : Self.fileStride) {
      try await attacker.attack(edits[number], number, in: fixture.storage, another())
    }
    let findings = attacker.findings
    #expect(findings.checks >= 500)
    #expect(findings.noticed.count > edits.count / (2 * (Self.isFull ? 1 : Self.fileStride)))
  }

  @Test("no edit of a tile above the bundles changes an answer without an error", .enabled(if: isFull))
  func tiles() async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    for first in stride(from: 0, to: 65_800, by: 1_000) {
      let records = TrailFixture.records(first..<min(first + 1_000, 65_800))
      try await log.append(records.map { AuditRecord($0.facts) })
    }
    try log.publishCheckpoint()
    let genuine = storage.copy()
    let questions =
      [0, 300, 65_535, 65_536, 65_799].flatMap { TrailQuestion.about($0) }
      + TrailQuestion.tree([1, 300, 60_000, 65_535, 65_536, 65_700, 65_800])
    var truth: [String] = []
    for question in questions { truth.append(try await question.ask(log)) }
    for (name, edit) in Self.tileEdits {
      let opened = try fixture.open(storage)
      try storage.write { writer in
        var row = try writer.value(.tiles, 1 << 48) ?? []
        edit(&row)
        try writer.put(.tiles, 1 << 48, row)
      }
      var errors = 0
      for log in [log, opened, try? fixture.open(storage)].compactMap(\.self) {
        for (question, expected) in zip(questions, truth) {
          guard let answer = try? await question.ask(log) else {
            errors += 1
            continue
          }
          #expect(answer == expected, "\(name): \(question.name)")
        }
      }
      #expect(errors > 0, "\(name)")
      try storage.set(to: genuine)
    }
  }

  private static let tileEdits: [(String, @Sendable (inout [UInt8]) -> Void)] = [
    ("a bit", { $0[5] ^= 1 }), ("the last bit", { $0[8_191] ^= 1 }), ("cut", { $0.removeLast(32) }),
    ("extended", { $0 += $0.prefix(32) }), ("empty", { $0 = [] }),
    ("zeros", { $0 = [UInt8](repeating: 0, count: 8_192) }),
    ("two hashes swapped", { row in for offset in 0..<32 { row.swapAt(32 + offset, 64 + offset) } }),
    ("a hash twice", { $0.replaceSubrange(32..<64, with: $0[0..<32]) }),
  ]
}

/// The answers of the untouched trail.
struct TrailTruth: Sendable {
  let reading: [TruthfulAnswer]
  let writing: [TruthfulAnswer]
  let copying: [TruthfulAnswer]

  static let shared = Task { try await TrailTruth(of: AttackedTrail.shared.value) }

  init(of trail: AttackedTrail) async throws {
    reading = try await Self.answers(TrailQuestion.reading(trail)) {
      try trail.open(trail.genuine.copy(), forWriting: false)
    }
    copying = try await Self.answers(TrailQuestion.copying(trail)) {
      try trail.open(trail.genuine.copy(), forWriting: false)
    }
    writing = try await Self.answers(TrailQuestion.writing(trail)) {
      try trail.open(trail.genuine.copy(), forWriting: true)
    }
  }

  private static func answers(
    _ questions: [TrailQuestion], _ open: () throws -> AuditLog
  ) async throws -> [TruthfulAnswer] {
    let log = try open()
    var answers: [TruthfulAnswer] = []
    for question in questions {
      answers.append(TruthfulAnswer(question: question, answer: try await question.ask(log)))
    }
    return answers
  }
}

struct TruthfulAnswer: Sendable {
  let question: TrailQuestion
  let answer: String
}

/// The results of attacks.
struct AttackFindings: Sendable {
  var checks = 0
  /// By edit, how many questions failed.
  var noticed: [String: Int] = [:]

  mutating func add(_ other: AttackFindings) {
    checks += other.checks
    noticed.merge(other.noticed, uniquingKeysWith: +)
  }
}
