// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Testing

@testable import AuditTrail

/// Makes edits, and asks everything of those who opened the trail before and after them.
struct Attacker {
  private let trail: AttackedTrail
  private let truth: TrailTruth
  private let isThorough: Bool
  /// A reader that goes through all attacks, with all that it keeps in memory; the trail is put right between them.
  private let survivor: AuditLog
  private let survivorStorage: MemoryStorage
  private(set) var findings = AttackFindings()

  init(_ trail: AttackedTrail, _ truth: TrailTruth, isThorough: Bool) async throws {
    self.trail = trail
    self.truth = truth
    self.isThorough = isThorough
    survivorStorage = trail.genuine.copy()
    survivor = try trail.open(survivorStorage, forWriting: false)
    for known in truth.reading { #expect(try await known.question.ask(survivor) == known.answer) }
  }

  /// Makes an edit, and asks.
  mutating func attack(_ edit: DirectedEdit, _ number: Int, place: Int) async throws {
    let edited = trail.genuine.copy()
    try make(edit, place, in: edited)
    try await askSurvivor(edit, edited)
    // In the short form each is asked a part of it.
    for turn in 0..<4 {
      let (isWriter, isBefore) = (turn % 2 == 1, turn > 1)
      let log =
        isBefore
        ? try openBefore(edit, place, forWriting: isWriter)
        : open(edited.copy(), forWriting: isWriter, edit)
      guard let log else { continue }
      let asked = "\(isWriter ? "writer" : "reader") opened \(isBefore ? "before" : "after")"
      try await ask(log, sample(truth.reading, number + turn, of: 8), edit, asked)
      if isWriter { try await ask(log, sample(truth.writing, number + turn, of: 5), edit, asked) }
    }
    let log = try openBefore(edit, place, forWriting: true)
    try await ask(log, sample(truth.writing, number, of: 3), edit, "writer that has read nothing")
    if isThorough || number.isMultiple(of: 3), let log = open(edited.copy(), forWriting: false, edit) {
      try await ask(log, sample(truth.copying, number / 3, of: truth.copying.count), edit, "opened after")
    }
  }

  /// The same in a storage that is not in memory. Another handle makes the edit.
  mutating func attack(
    _ edit: DirectedEdit, _ number: Int, in storage: any TrailStorage, _ raw: any TrailStorage
  ) async throws {
    try raw.set(to: trail.genuine)
    let log = try trail.open(storage, forWriting: false)
    try make(edit, number, in: raw)
    try await ask(log, sample(truth.reading, number, of: 3), edit, "opened before")
    if let log = open(storage, forWriting: false, edit) {
      try await ask(log, sample(truth.reading, number + 1, of: 3), edit, "opened after")
    }
  }

  private func sample(_ answers: [TruthfulAnswer], _ first: Int, of count: Int) -> [TruthfulAnswer] {
    guard !isThorough else { return answers }
    return stride(from: first % count, to: answers.count, by: count).map { answers[$0] }
  }

  private func make(_ edit: DirectedEdit, _ place: Int, in storage: any TrailStorage) throws {
    try storage.write { try edit.apply(Attack(rows: $0, trail: trail, place: place)) }
  }

  /// A log that was opened before the edit, and has read nothing yet.
  private func openBefore(_ edit: DirectedEdit, _ place: Int, forWriting: Bool) throws -> AuditLog {
    let storage = trail.genuine.copy()
    let log = try trail.open(storage, forWriting: forWriting)
    try make(edit, place, in: storage)
    return log
  }

  private mutating func open(
    _ storage: any TrailStorage, forWriting: Bool, _ edit: DirectedEdit
  ) -> AuditLog? {
    findings.checks += 1
    do { return try trail.open(storage, forWriting: forWriting) } catch {
      findings.noticed[edit.name, default: 0] += 1
      return nil
    }
  }

  private mutating func askSurvivor(_ edit: DirectedEdit, _ edited: MemoryStorage) async throws {
    try survivorStorage.set(to: edited)
    try await ask(survivor, sample(truth.reading, findings.checks, of: 4), edit, "survivor")
    try survivorStorage.set(to: trail.genuine)
    try await ask(survivor, sample(truth.reading, findings.checks, of: 32), edit, "survivor afterwards")
  }

  private mutating func ask(
    _ log: AuditLog, _ known: [TruthfulAnswer], _ edit: DirectedEdit, _ asked: String
  ) async throws {
    for known in known {
      findings.checks += 1
      guard let answer = try? await known.question.ask(log) else {
        findings.noticed[edit.name, default: 0] += 1
        continue
      }
      if answer != known.answer {
        Issue.record("\(edit.name): \(known.question.name), \(asked): \(answer.prefix(300))")
      }
    }
  }
}
