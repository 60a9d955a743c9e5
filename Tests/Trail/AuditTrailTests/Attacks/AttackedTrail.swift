// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import TransparencyLog

@testable import AuditTrail
@testable import FingerprintIndex

/// A trail with rows in every table that so few entries can have, to be copied for each attack: index runs, merges under
/// way, runs that await their removal, erased entries, grants and anchors.
struct AttackedTrail: Sendable {
  let signer: NoteSignerKey
  let genuine: MemoryStorage
  /// The only thing that an attacker cannot put back: the last checkpoint, in its place.
  let checkpoint: [UInt8]
  /// The storage at earlier times, oldest first. The last copy was made just before the last erasures.
  let earlier: [MemoryStorage]
  /// Another trail, of the same key and origin.
  let sibling: MemoryStorage
  /// Another trail of the same origin, of another key.
  let stranger: MemoryStorage
  let strangerKey: NoteSignerKey
  /// The index of the entry of each record of ``record(_:)``.
  let places: [UInt64]
  let size: UInt64
  let presented: [PresentedReceipt]

  static let shared = Task { try await AttackedTrail() }

  /// In an indexed bundle, in one that is not indexed yet, and in the tail.
  static let late = [50, 300, 360, 2_150, 2_330]
  static let erased = [20, 21] + late
  /// With receipts that take rows of their own.
  static let large: Set = [50, 450, 900, 2_150, 2_200]
  static let watched = [0, 31, 32, 255, 300, 700, 1_000, 1_790, 2_060, 2_150, 2_299, 2_330, 2_349]
  private static let indexedCount = 2_060
  private static let count = 2_350

  static func record(_ number: Int, verdict: RecordedVerdict = .valid) -> AuditRecord {
    let original = number.isMultiple(of: 150) ? "line" : "\(1_000 + number % 400)"
    let token =
      number.isMultiple(of: 120)
      ? "regular" : late.contains(number) ? "forgotten" : number % 3 == 0 ? "customer \(number % 60)" : nil
    var record = TrailFixture.record(number, original: original, token: token)
    record.facts.verdict = verdict
    record.facts.product = number % 400 == 300 ? "rare" : "common"
    if large.contains(number) { record.receiptBytes = sampleBytes(5_000, seed: UInt64(number)) }
    return record
  }

  private init() async throws {
    var storage = MemoryStorage()
    var fixture = try TrailFixture(storage: storage)
    fixture.options.clock = { Timestamp(millisecondsSince1970: 1_760_000_000_000) }
    signer = fixture.signer
    strangerKey = try .generate(name: TrailFixture.origin)
    presented = try await PresentedReceipt.all()
    var (places, earlier): ([UInt64], [MemoryStorage]) = ([], [])

    var log = try fixture.create()
    _ = try await log.grant(presented.filter { $0.isGrantedEarly }.map { $0.request() })
    try await Self.append(0..<600, to: log, &places)
    earlier.append(storage.copy())
    try await log.erase(entries: [places[20], places[21]])
    try await Self.append(600..<1_000, to: log, &places)
    try await log.anchor(original: "line")
    try await Self.append(1_000..<Self.indexedCount, to: log, &places)
    earlier.append(storage.copy())

    // The worker of the first log may be late, and would go on with the merges.
    storage = storage.copy()
    let options = fixture.options
    fixture = try TrailFixture(storage: storage, checkpoints: fixture.checkpoints, signer: signer)
    fixture.options = options
    var merger = try Self.beginMerges(fixture)
    fixture.options.flushInterval = 1 << 40
    log = try fixture.open()
    _ = try await log.grant(presented.filter { $0.isGrantedLate }.map { $0.request() })
    try await Self.append(Self.indexedCount..<Self.count, to: log, &places)
    earlier.append(storage.copy())
    let forgotten = places
    try await log.erase(entries: Self.late.map { forgotten[$0] })
    try await log.anchor(original: "line")
    // The runs that were merged await their removal, but for one.
    for _ in 0..<2 { _ = try merger.step() }
    checkpoint = try log.publishCheckpoint().signed.encoded
    size = try log.withView { $0.size }

    genuine = storage.copy()
    (self.places, self.earlier) = (places, earlier)
    sibling = try await Self.other(signer)
    stranger = try await Self.other(strangerKey)
  }

  private static func append(_ numbers: Range<Int>, to log: AuditLog, _ places: inout [UInt64]) async throws {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 130) {
      let batch = (first..<min(first + 130, numbers.upperBound)).map { record($0) }
      places += try await log.append(batch).map(\.index)
    }
  }

  /// A trail with the same records, all of them refused.
  private static func other(_ signer: NoteSignerKey) async throws -> MemoryStorage {
    let storage = MemoryStorage()
    let log = try TrailFixture(storage: storage, signer: signer).create()
    for first in stride(from: 0, to: 780, by: 130) {
      try await log.append((first..<first + 130).map { record($0, verdict: .invalid) })
    }
    try await log.erase(entry: 300)
    return storage.copy()
  }

  /// Flushes an eighth run of each kind, and merges each as far as something is left to do.
  ///
  /// - Returns: A worker that has claimed the merge of the products, and not begun it.
  private static func beginMerges(_ fixture: TrailFixture) throws -> IndexMerger {
    let keys = try fixture.storage.read {
      try TrailKeys(reading: $0, trusting: fixture.signer.verifierKey, signer: fixture.signer)
    }
    let context = TrailContext(keys: keys, nodes: TileNodeCache(), writer: 0)
    try fixture.storage.write { writer in
      var state = try TrailState(reading: writer, context)
      try state.flushIndex(every: 256, in: writer)
    }
    let now = UInt64(SystemClock.now().millisecondsSince1970 / 1_000)
    func merger() -> IndexMerger {
      IndexMerger(storage: StoredIndex(storage: fixture.storage, keys: keys), pagesPerStep: 1) { now }
    }
    for steps in [3, 3, 3, 2] {
      var merger = merger()
      for _ in 0..<steps { _ = try merger.step() }
    }
    var last = merger()
    _ = try last.step()
    return last
  }

  /// A place for the checkpoint that holds the last one.
  func checkpoints() -> MemoryCheckpointStore { MemoryCheckpointStore(checkpoint) }

  /// Opens the trail in a storage, to read and write or only to read.
  func open(
    _ storage: any TrailStorage, forWriting: Bool, _ checkpoints: (any CheckpointStore)? = nil
  ) throws -> AuditLog {
    var options = AuditLog.Options()
    options.checkpointInterval = .seconds(3_600)
    options.flushInterval = 1 << 40
    options.clock = { Timestamp(millisecondsSince1970: 1_760_000_000_000) }
    return try AuditLog.open(
      storage, verifier: signer.verifierKey, signer: forWriting ? signer : nil,
      checkpoints: checkpoints ?? self.checkpoints(), options: options)
  }
}

/// A receipt that is presented for a grant.
struct PresentedReceipt: Sendable {
  let name: String
  let bytes: [UInt8]
  let verdict: Verdict
  let customer: String
  var isGrantedEarly: Bool { name.hasPrefix("early") }
  var isGrantedLate: Bool { name.hasPrefix("late") }

  /// Two consumables and two subscriptions that are granted, and one of each that is not.
  static func all() async throws -> [PresentedReceipt] {
    let (receipts, verifier) = (try TestReceipts(), try RecordingFixture.verifier())
    var presented: [PresentedReceipt] = []
    for (number, time) in ["early", "late", "never"].enumerated() {
      for isConsumable in [true, false] {
        let identifier = "\(7_000 + 2 * number + (isConsumable ? 1 : 0))"
        let bytes = Array(
          try receipts.signedTransaction {
            if isConsumable { $0.type = .consumable }
            $0.transactionId = identifier
            $0.originalTransactionId = identifier
            $0.appAccountToken = nil
          }.utf8)
        presented.append(
          PresentedReceipt(
            name: "\(time) \(isConsumable ? "consumable" : "subscription")", bytes: bytes,
            verdict: verifier.verify(bytes), customer: "anna"))
      }
    }
    return presented
  }

  func request(as customer: String? = nil, _ rules: Set<ReplayRule> = []) -> GrantRequest {
    GrantRequest(
      verdict, receipt: bytes, policyDigest: SHA256Digest(of: [3]),
      at: Timestamp(millisecondsSince1970: 1_760_000_000_000), rules: rules,
      options: RecordingOptions(customer: customer ?? self.customer))
  }
}
