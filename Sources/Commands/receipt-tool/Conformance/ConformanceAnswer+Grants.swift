// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import TransparencyLog

extension ConformanceAnswer {
  /// A request for a grant, as a case of its own, and the verifier of its policy.
  typealias AskedGrant = (asked: ConformanceCase, verifier: ReceiptVerifier)

  /// The decisions on requests for grants, batch by batch, by a trail that exists as long as the case.
  init(granting asked: ConformanceCase, _ batches: [[AskedGrant]]) async throws {
    let folder = try ConformanceFolder()
    defer { folder.remove() }
    let signer = try NoteSignerKey.generate(name: "conformance.example/grants")
    let log = try AuditLog.create(
      in: SQLiteStorage(creatingAt: "\(folder.path)/trail"),
      configuration: TrailConfiguration(
        origin: signer.name, once: asked.input["window"]?.int64.map { .seconds($0) } ?? .forever),
      signer: signer, checkpoints: FileCheckpointStore(path: "\(folder.path)/checkpoint"))
    defer { try? log.close() }
    var decisions: [JSONValue] = []
    var repetitions: [JSONValue] = []
    var requests: [UInt64: Int64] = [:]
    for batch in batches {
      let verdicts = try batch.map { request in
        request.verifier.verify(try request.asked.receipt)
      }
      let made = try zip(batch, verdicts).map { request, verdict in
        try Self.request(request, verdict, consumables: asked.input["consumables"])
      }
      for (verdict, decision) in zip(verdicts, try await log.grant(made)) {
        let number = Int64(decisions.count)
        let word = decision.isGranted ? "granted" : verdict.receipt == nil ? "not-valid" : "replay"
        decisions.append(.members(("request", .integer(number)), ("decision", .string(word))))
        guard let entry = decision.acknowledgements.first else { continue }
        if !entry.isRepeat { requests[entry.index] = number }
        if entry.isRepeat, let first = requests[entry.index] {
          repetitions.append(.members(("request", .integer(number)), ("repeats", .integer(first))))
        }
      }
    }
    self.init(
      verdict: "valid",
      values: .members(("decisions", .array(decisions)), ("repetitions", .array(repetitions))))
  }

  private static func request(
    _ request: AskedGrant, _ verdict: Verdict, consumables: JSONValue?
  ) throws -> GrantRequest {
    let input = request.asked.input
    return GrantRequest(
      verdict, receipt: try request.asked.receipt,
      policyDigest: SHA256Digest(of: request.verifier.policy), at: request.asked.time,
      rules: Set(try input.texts("rules").map { ReplayRule(rawValue: $0) }),
      consumables: Set(consumables?.array?.compactMap(\.string) ?? []),
      options: RecordingOptions(customer: input["customer"]?.string))
  }
}

extension ConformanceCase {
  /// The requests of a case for grants, batch by batch, each with the case's rules, policy and time if it has none of its
  /// own.
  func grants() throws(MalformedReceipt) -> [[ConformanceCase]] {
    guard let batches = input["batches"]?.array else { throw .missing("batches") }
    return try batches.map { batch throws(MalformedReceipt) in
      guard let requests = batch.array else { throw .missing("batches") }
      return try requests.map { request throws(MalformedReceipt) in
        try ConformanceCase(
          .members(
            ("id", .string(id)), ("operation", .string("verify")),
            (
              "input",
              .members(
                ("receipt", request["receipt"]), ("customer", request["customer"]),
                ("rules", request["rules"] ?? input["rules"] ?? .array([])))
            ),
            ("policy", request["policy"] ?? statedPolicy),
            ("time", request["time"] ?? .string(time.iso8601))))
      }
    }
  }
}

extension JSONValue {
  fileprivate func texts(_ name: String) throws(MalformedReceipt) -> [String] {
    guard let values = self[name]?.array else { throw .missing(name) }
    return try values.map { value throws(MalformedReceipt) in
      guard let text = value.string else { throw .missing(name) }
      return text
    }
  }
}
