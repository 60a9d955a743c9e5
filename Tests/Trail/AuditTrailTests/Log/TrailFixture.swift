// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import ReceiptCrypto
import TransparencyLog

/// A trail for tests, and records to enter into it.
struct TrailFixture {
  let storage: any TrailStorage
  let signer: NoteSignerKey
  let checkpoints: any CheckpointStore
  var options = AuditLog.Options()

  static let origin = "example.com/test"

  init(
    storage: any TrailStorage = MemoryStorage(), checkpoints: any CheckpointStore = MemoryCheckpointStore(),
    signer: NoteSignerKey? = nil
  ) throws {
    self.storage = storage
    self.checkpoints = checkpoints
    self.signer = try signer ?? NoteSignerKey.generate(name: Self.origin)
    options.checkpointInterval = .seconds(3600)
    // Every bundle, so that there are index runs, and merged ones, in small trails too.
    options.flushInterval = 256
  }

  func create(once: TrailConfiguration.OnceWindow = .forever) throws -> AuditLog {
    try AuditLog.create(
      in: storage, configuration: TrailConfiguration(origin: Self.origin, once: once), signer: signer,
      checkpoints: checkpoints, options: options)
  }

  func open(_ storage: (any TrailStorage)? = nil) throws -> AuditLog {
    try AuditLog.open(
      storage ?? self.storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints,
      options: options)
  }

  /// The record of the verdict on receipt `number`, of one of ten original transactions.
  static func record(_ number: Int, original: String? = nil, token: String? = nil, time: Int64? = nil)
    -> AuditRecord
  {
    let facts = EntryFacts(
      time: time ?? 1_760_000_000_000 + Int64(number), kind: .verdict,
      receipt: SHA256Digest(of: Array("\(number)".utf8)),
      transaction: "\(20_000 + number)", original: original ?? "\(1_000 + number % 10)",
      product: "com.example.\(number % 3)", bundle: "com.example", environment: "Production", verdict: .valid,
      signer: SHA256Digest(of: [1]), root: SHA256Digest(of: [2]), policy: SHA256Digest(of: [3]))
    return AuditRecord(facts, receiptBytes: Array("receipt \(number)".utf8), customerToken: token)
  }

  static func records(_ numbers: Range<Int>) -> [AuditRecord] { numbers.map { record($0) } }
}

extension AuditLog {
  @discardableResult
  func erase(entry index: UInt64) async throws(AuditError) -> AuditAcknowledgement {
    try await erase(entries: [index])[0]
  }
}
