// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import FoundationEssentials
import ReceiptCrypto
import TransparencyLog

@testable import AuditTrail

extension TrailQuestion {
  /// The questions to a writer. No answer depends on what was written by another question.
  static func writing(_ trail: AttackedTrail) -> [TrailQuestion] {
    var questions: [TrailQuestion] = [31, 700, 1_790, 2_060, 2_150, 2_349].map { number in
      TrailQuestion("repeat of \(number)") { log in
        "\(try await log.append([AttackedTrail.record(number)]))"
      }
    }
    for presented in trail.presented {
      questions.append(
        TrailQuestion("grant of \(presented.name)") { log in
          let request = presented.request(as: "bert", Set(ReplayRule.all))
          return "\(try await log.grant([request]).map(\.isGranted))"
        })
    }
    let (erased, kept) = (trail.places[300], trail.places[1_000])
    questions += [
      TrailQuestion("erasure again") { log in "\(try await log.erase(entry: erased))" },
      TrailQuestion("erasure") { log in
        let size = try log.withView { $0.size }
        let erasure = try await log.erase(entry: kept)
        return
          "\(erasure.index - size) \(erasure.isRepeat) \(try log.withView { try $0.erasablePart(at: kept) == nil })"
      },
      TrailQuestion("anchor") { log in
        let anchor = try await log.anchor(original: "1007")
        let entry = try log.withView { try $0.entry(at: anchor.index).entry }
        return "\(entry.newest ?? 0) \(entry.count ?? 0)"
      },
      TrailQuestion("entry of a line") { log in
        let record = TrailFixture.record(5_000, original: "line")
        let size = try log.withView { $0.size }
        let added = try await log.append([record], acknowledgement: .checkpointed)[0]
        let entry = try log.withView { try $0.entry(at: added.index).entry }
        return "\(added.index - size) \(entry.previous ?? 0)"
      },
    ]
    return questions
  }

  // MARK: - Of copies

  /// The copies that are made of a whole trail, and the questions about them.
  static func copying(_ trail: AttackedTrail) -> [TrailQuestion] {
    [
      TrailQuestion("export") { try export($0, includingErasableParts: false) },
      TrailQuestion("export with erasable parts") { try export($0, includingErasableParts: true) },
      TrailQuestion("rows") { log in
        var rows: [String] = []
        try log.withView { view in
          try view.forEachRow { rows.append("\($0.index) \($0.erasable?.rawValue ?? "-")") }
        }
        return rows.joined(separator: " ")
      },
      TrailQuestion("reindexed") { log in
        let storage = try log.storage.copied()
        try TrailReindexing(
          storage, checkpoints: trail.checkpoints(), signer: trail.signer, sliceCount: 1_024
        ).run()
        return try await answers(of: trail.open(storage, forWriting: false), trail)
      },
      TrailQuestion("moved") { log in
        let (target, checkpoints) = (MemoryStorage(), MemoryCheckpointStore())
        try TrailMigration(from: log.storage.copied(), checkpoints: trail.checkpoints(), signer: trail.signer)
          .run(to: target, checkpoints: checkpoints)
        return try await answers(of: trail.open(target, forWriting: false, checkpoints), trail)
      },
      TrailQuestion("restored") { log in
        let storage = try log.storage.copied()
        let keys = try storage.read { try ErasureKeyBackup(reading: $0) }
        try storage.write { try $0.remove(.keys, in: .min ... .max, erasing: true) }
        try ErasureKeyBackup(parsing: keys.encoded).restore(to: storage)
        return try await answers(of: trail.open(storage, forWriting: false), trail)
      },
    ]
  }

  private static func answers(of log: AuditLog, _ trail: AttackedTrail) async throws -> String {
    var answers: [String] = []
    for question in about(trail.places[900]) + about(trail.places[300]) + searches() {
      answers.append(try await question.ask(log))
    }
    return answers.joined(separator: "\n")
  }

  /// The files of an export without a fault that a check detects.
  private static func export(_ log: AuditLog, includingErasableParts: Bool) throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/attacked-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try log.export(to: directory, includingErasableParts: includingErasableParts)
    let report = try TileDirectoryChecker(directory: directory, verifier: log.keys.first).check()
    guard report.isClean else { throw Refusal() }
    let files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    return files.map { file in
      let bytes = FileManager.default.contents(atPath: "\(path)/\(file)").map { Array($0) } ?? []
      return "\(file) \(SHA256Digest(of: bytes).base64)"
    }.joined(separator: "\n")
  }
}
