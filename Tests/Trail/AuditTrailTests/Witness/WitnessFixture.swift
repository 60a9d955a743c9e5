// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Synchronization
import TransparencyLog

/// Witnesses that answer within the process, and a policy of them.
final class WitnessFixture: WitnessTransport {
  typealias Handler = @Sendable ([UInt8]) async throws(WitnessTransportError) -> WitnessResponse

  let keys: [NoteSignerKey]
  /// The stores of the witnesses' last checkpoints.
  let stores: [MemoryCheckpointStore]
  let policy: WitnessPolicy
  private let handlers: Mutex<[String: Handler]>
  private let asked = Mutex<[String: Int]>([:])

  /// Honest witnesses of the log with this key.
  init(_ count: Int = 3, threshold: Int = 2, of log: NoteVerifierKey) throws {
    let keys = try (0..<count).map { try NoteSignerKey.generate(name: "witness.example/w\($0)") }
    let stores = (0..<count).map { _ in MemoryCheckpointStore() }
    self.keys = keys
    self.stores = stores
    var lines = keys.enumerated().map {
      "witness w\($0) \($1.cosignatureVerifierKey) \(Self.url(of: $0))/\n"
    }
    lines.append(
      "group all \(threshold) \(keys.indices.map { "w\($0)" }.joined(separator: " "))\nquorum all\n")
    policy = try WitnessPolicy(parsing: Array(lines.joined().utf8))
    handlers = Mutex([:])
    for index in keys.indices { answer(as: index, Self.honest(keys[index], log, stores[index])) }
  }

  static func url(of index: Int) -> String { "https://w\(index).example/submit" }

  static func honest(
    _ key: NoteSignerKey, _ log: NoteVerifierKey, _ store: any CheckpointStore
  ) -> Handler {
    let witness = CheckpointWitness(
      key: key, logs: [CheckpointWitness.KnownLog(keys: [log], checkpoints: store)])
    return { body throws(WitnessTransportError) in witness.respond(to: body).response }
  }

  /// Has a witness answer in another way from now on.
  func answer(as index: Int, _ handler: @escaping Handler) {
    handlers.withLock { $0["\(Self.url(of: index))/add-checkpoint"] = handler }
  }

  func stop(_ index: Int) {
    answer(as: index) { _ throws(WitnessTransportError) in
      throw WitnessTransportError(.unreachable, "nobody listens")
    }
  }

  /// Returns the number of requests that the witness got.
  func requestCount(_ index: Int) -> Int {
    asked.withLock { $0["\(Self.url(of: index))/add-checkpoint"] ?? 0 }
  }

  /// The times are long, since tests that block their threads may run beside.
  func witnesses(timeout: Duration = .seconds(600), gracePeriod: Duration = .seconds(600)) -> Witnesses {
    var witnesses = Witnesses(policy: policy, transport: self, timeout: timeout)
    witnesses.gracePeriod = gracePeriod
    return witnesses
  }

  func post(
    _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
  ) async throws(WitnessTransportError) -> WitnessResponse {
    asked.withLock { $0[url, default: 0] += 1 }
    guard let handler = handlers.withLock({ $0[url] }) else {
      throw WitnessTransportError(.unusable, "no such URL")
    }
    return try await handler(body)
  }
}
