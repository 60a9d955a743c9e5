// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptVerification
import TransparencyLog

@testable import AuditTrail

/// Something that an opened trail is asked, and its answer as a text.
struct TrailQuestion: Sendable {
  let name: String
  let ask: @Sendable (AuditLog) async throws -> String

  init(_ name: String, ask: @escaping @Sendable (AuditLog) async throws -> String) {
    self.name = name
    self.ask = ask
  }

  /// One that a state of the trail answers.
  init(_ name: String, view: @escaping @Sendable (TrailView) throws -> String) {
    self.init(name, ask: { log in try log.withView(view) })
  }

  private static func text(_ entries: [RecordedEntry]) -> String {
    entries.map { "\($0.index) \(String(decoding: $0.bytes, as: UTF8.self))" }.joined(separator: "\n")
  }

  private static func text(_ part: ErasablePart?) -> String {
    part.map { "\($0.customerToken ?? "-") \(SHA256Digest(of: $0.receipt ?? []).base64)" } ?? "none"
  }

  // MARK: - Of single entries and the tree

  /// Of an entry: its text, its erasable part and its proof.
  static func about(_ index: UInt64) -> [TrailQuestion] {
    [
      TrailQuestion("entry \(index)", view: { text([try $0.entry(at: index)]) }),
      TrailQuestion("erasable part of \(index)", view: { text(try $0.erasablePart(at: index)) }),
      TrailQuestion("proof of \(index)") { log in try log.withView { try prove(index, $0, log.keys.first) } },
    ]
  }

  private static func prove(_ index: UInt64, _ view: TrailView, _ key: NoteVerifierKey) throws -> String {
    let proof = try view.proof(of: index)
    let entry = proof.extra ?? []
    _ = try proof.verify(entry: entry, by: key)
    return String(decoding: proof.encoded, as: UTF8.self)
  }

  /// Of the tree at several sizes.
  static func tree(_ sizes: [UInt64]) -> [TrailQuestion] {
    var questions = [
      TrailQuestion("size and root", view: { "\($0.size) \($0.root) \($0.checkpoint?.checkpoint.size ?? 0)" })
    ]
    for (older, newer) in zip(sizes, sizes.dropFirst()) {
      questions.append(TrailQuestion("root of \(older)", view: { "\(try $0.root(size: older))" }))
      questions.append(
        TrailQuestion("consistency of \(older) and \(newer)") { view in
          let proof = try view.consistencyProof(from: older, to: newer)
          return proof.map(\.base64).joined(separator: " ")
        })
    }
    return questions
  }

  // MARK: - Of everything that is found by the index

  /// The questions about the whole trail, which do not change it.
  static func reading(_ trail: AttackedTrail) -> [TrailQuestion] {
    let places = trail.places
    let watched = AttackedTrail.watched.map { places[$0] } + AttackedTrail.erased.map { places[$0] }
    var questions = Set(watched + AttackedTrail.large.map { places[$0] } + [trail.size - 1]).sorted()
      .flatMap(about)
    questions += tree([1, 255, 256, 700, 1_024, 2_050, trail.size - 3, trail.size])
    questions += searches()
    for presented in trail.presented { questions += replays(of: presented) }
    questions += [
      TrailQuestion("complete history") { log in
        try log.withView { try completeHistory("line", $0, log.keys.first) }
      },
      TrailQuestion("health") { "\($0.health.uncheckpointedCount)" },
      TrailQuestion("statistics") { log in
        let statistics = try log.statistics()
        return "\(statistics.entryCount) \(statistics.oldestTime ?? 0) \(statistics.newestTime ?? 0)"
      },
    ]
    return questions
  }

  static func searches() -> [TrailQuestion] {
    var questions: [TrailQuestion] = []
    for original in ["line", "1007", "absent"] {
      questions.append(
        TrailQuestion("history of \(original)", view: { text(try $0.history(original: original)) }))
    }
    for number in [31, 1_790, 2_299] {
      let record = AttackedTrail.record(number)
      let (transaction, receipt) = (record.transaction ?? "", record.receipt ?? SHA256Digest(of: []))
      let time = record.facts.time...record.facts.time + 3
      questions += [
        TrailQuestion("transaction \(number)", view: { text(try $0.entries(transaction: transaction)) }),
        TrailQuestion("receipt \(number)", view: { text(try $0.entries(receipt: receipt)) }),
        TrailQuestion("time \(number)", view: { text(try $0.entries(time: time, limit: 5)) }),
      ]
    }
    for customer in ["regular", "forgotten", "customer 21", "absent"] {
      questions.append(TrailQuestion(customer, view: { text(try $0.entries(customer: customer)) }))
    }
    questions += [
      TrailQuestion("product", view: { text(try $0.entries(product: "rare", limit: 3)) }),
      TrailQuestion("page", view: { text(try $0.history(original: "line", before: 1_000, limit: 4)) }),
    ]
    return questions
  }

  private static func completeHistory(
    _ original: String, _ view: TrailView, _ key: NoteVerifierKey
  ) throws -> String {
    let proven = try view.history(original: original).map { recorded in
      _ = try view.proof(of: recorded.index).verify(entry: recorded.bytes, by: key)
      return ProvenEntry(index: recorded.index, entry: recorded.entry)
    }
    let history = try CompleteHistory(proven)
    return "\(history.entries.map(\.index)) \(history.anchor.index) \(history.size)"
  }

  private static func replays(of presented: PresentedReceipt) -> [TrailQuestion] {
    ReplayRule.all.map { rule in
      TrailQuestion("replay of \(presented.name) by \(rule.rawValue)") { log in
        guard let receipt = presented.verdict.receipt else { return "no receipt" }
        let checker = ReplayChecker(log, rules: [rule], customer: "bert")
        guard case .response(let response) = await checker.check(receipt) else { throw Refusal() }
        return "\(response)"
      }
    }
  }
}
