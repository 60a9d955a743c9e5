// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import Glibc
import Measuring
import Synchronization
import TransparencyLog

#if PostgreSQL
  import AuditTrailPostgreSQL
#endif

/// Measures the erasing of entries spread evenly over a trail, while another writer appends small batches through a
/// storage of its own, as another process does; and how long the same writer waits when nothing is erased.
struct ErasureMeasurement {
  private static let origin = "example.com/bench"
  private static let batchCount = 4

  let directory: String
  /// A PostgreSQL server's; `nil` for a file in the directory.
  let url: String?

  func run(entries: Int, erased: Int) async throws {
    let (storage, isNew) = try openStorage()
    let signer = try signer(isNew: isNew)
    if isNew { try await fill(storage, signer, entries: entries) }
    let log = try open(storage, signer)
    let other = try open(openStorage().storage, signer)
    let size = try log.statistics().entryCount
    print("\(size) entries")
    report(
      "appends of \(Self.batchCount) with nothing else going on",
      try await appendBeside(other) {
        try await Task.sleep(for: .seconds(5))
      })
    try raw(batches: erased / 512 + 1)
    let indexes = (0..<erased).map { UInt64($0) * UInt64(entries / erased) }
    let start = Clock.seconds()
    let waits = try await appendBeside(other) { _ = try await log.erase(entries: indexes) }
    print("erased \(erased) entries in \(rounded(Clock.seconds() - start)) s")
    report("appends of \(Self.batchCount) meanwhile", waits)
    try other.close()
    try log.close()
  }

  private func report(_ name: String, _ waits: [Double]) {
    let sorted = waits.sorted().map { $0 * 1000 }
    print(
      "\(name): \(sorted.count), p50 \(rounded(sorted[sorted.count / 2])) ms, p99 "
        + "\(rounded(sorted[sorted.count * 99 / 100])) ms, at most \(rounded(sorted[sorted.count - 1])) ms")
  }

  /// Runs `body`, and appends small batches one after the other for as long as it runs; returns how long each took.
  private func appendBeside(
    _ log: AuditLog, _ body: @Sendable () async throws -> Void
  ) async throws -> [Double] {
    let isOver = Flag()
    async let waits = Self.append(to: log, until: isOver)
    do { try await body() } catch {
      isOver.set()
      throw error
    }
    isOver.set()
    return try await waits
  }

  private static func append(to log: AuditLog, until isOver: Flag) async throws -> [Double] {
    var workload = Workload(seed: UInt64(Clock.seconds() * 1e6), entries: 1_000_000)
    var waits: [Double] = []
    repeat {
      let records = workload.batch(batchCount)
      let start = Clock.seconds()
      try await log.append(records)
      waits.append(Clock.seconds() - start)
    } while !isOver.isSet
    return waits
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }

  /// Measures the time that the disk takes to store as many batches as an erasure has transactions.
  private func raw(batches: Int) throws {
    let probe = try RawProbe(path: directory + "/bench.raw")
    try probe.run(batches: batches)
    print("raw: \(batches) batches of 1 MiB hashed, written and synced in \(rounded(probe.seconds)) s")
  }

  // MARK: The trail

  private func fill(_ storage: any TrailStorage, _ signer: NoteSignerKey, entries: Int) async throws {
    let log = try AuditLog.create(
      in: storage, configuration: TrailConfiguration(origin: Self.origin), signer: signer,
      checkpoints: checkpoints)
    var workload = Workload(seed: 1, entries: entries)
    workload.namesCustomers = true
    var ahead = [workload.batch(1024)]
    for _ in 0..<(entries + 1023) / 1024 {
      let batch = ahead.removeFirst()
      async let appended = log.append(batch)
      ahead.append(workload.batch(1024))
      _ = try await appended
    }
    // The storage goes with it: nothing is left to merge.
    try log.publishCheckpoint()
    try await Task.sleep(for: .seconds(1))
  }

  private func open(_ storage: any TrailStorage, _ signer: NoteSignerKey) throws -> AuditLog {
    try AuditLog.open(
      storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints)
  }

  private var checkpoints: FileCheckpointStore {
    FileCheckpointStore(path: directory + "/erase.checkpoint")
  }

  private func signer(isNew: Bool) throws -> NoteSignerKey {
    let path = directory + "/erase.key"
    guard isNew else {
      return try NoteSignerKey(
        name: Self.origin, pem: String(decoding: File.contents(of: path), as: UTF8.self))
    }
    let signer = try NoteSignerKey.generate(name: Self.origin)
    try File.write(Array(signer.pem().utf8), to: path)
    return signer
  }

  /// The storage, and whether it was made now.
  private func openStorage() throws -> (storage: any TrailStorage, isNew: Bool) {
    do {
      return (try storage(creating: false), false)
    } catch let error as StorageError where error.code == .notFound {
      return (try storage(creating: true), true)
    }
  }

  private func storage(creating: Bool) throws -> any TrailStorage {
    guard let url else {
      let path = directory + "/erase.trail"
      return try creating ? SQLiteStorage(creatingAt: path) : SQLiteStorage(openingAt: path)
    }
    #if PostgreSQL
      return try creating ? PostgreSQLStorage(creatingAt: url) : PostgreSQLStorage(openingAt: url)
    #else
      throw Failure("\(url): this build has no PostgreSQL; build it with: --traits PostgreSQL")
    #endif
  }
}

/// Small files of a measurement.
enum File {
  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw Failure("\(path) cannot be written.") }
    let written = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, written == bytes.count else {
      throw Failure("\(path) cannot be written.")
    }
  }

  static func contents(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    return unsafe Array(unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      unsafe count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
  }
}
