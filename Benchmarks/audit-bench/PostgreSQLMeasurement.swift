// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import AuditTrailPostgreSQL
  import AuditTrailTesting
  import Glibc
  import Measuring
  import Synchronization
  import TransparencyLog

  /// Measures an audit trail on a PostgreSQL server: what the storage writes by itself, then durable appends of a whole
  /// trail, from one process with batches, from several clients of one process, and one by one.
  ///
  /// The server's URL, without a schema, is in `POSTGRESQL_URL`; scripts/temporary-postgresql gives one.
  enum PostgreSQLMeasurement {
    static func run(entries: Int) async throws {
      guard let url = unsafe getenv("POSTGRESQL_URL").map({ unsafe String(cString: $0) }) else {
        throw Failure("POSTGRESQL_URL names no server.")
      }
      try storage(url)
      try await appends(url, entries: entries)
      try await oneByOne(url)
    }

    /// Four bundles of 256 KB in one transaction, as a batch of 1,024 entries makes them.
    private static func storage(_ url: String) throws {
      let storage = try PostgreSQLStorage(
        creatingAt: url, options: PostgreSQLOptions(schema: schema("storage")))
      let bundle = (0..<(256 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      let rounds = 100
      let start = Clock.seconds()
      for round in 0..<rounds {
        try storage.write { writer in
          for number in 0..<4 { try writer.put(.bundles, Int64(round * 4 + number), bundle) }
          try writer.put(.head, 0, [UInt8](repeating: UInt8(round), count: 57))
        }
      }
      let took = Clock.seconds() - start
      print("storage: 4 × 256 KB in \(rounded(took / Double(rounds) * 1000)) ms a transaction")
      let probes = 5000
      let reading = Clock.seconds()
      for probe in 0..<probes {
        _ = try storage.read { try $0.value(.bundles, Int64(probe % 400), bytes: 100_000..<101_000) }
      }
      print(
        "storage: 1 KB of a bundle in \(rounded((Clock.seconds() - reading) / Double(probes) * 1000)) ms"
      )
      try storage.close()
    }

    private static func appends(_ url: String, entries: Int) async throws {
      let (log, storage) = try create(url, "appends")
      var workload = Workload(seed: 1, entries: entries)
      let batchCount = (entries + 1023) / 1024
      let section = max(1, batchCount / 10)
      var (seconds, longest, total) = (0.0, 0.0, 0.0)
      print("      entries   appends/s   longest batch   resident")
      for batch in 0..<batchCount {
        let records = workload.batch(1024)
        let start = Clock.seconds()
        try await log.append(records)
        let took = Clock.seconds() - start
        (seconds, total, longest) = (seconds + took, total + took, max(longest, took))
        guard (batch + 1).isMultiple(of: section) else { continue }
        print(
          "      \((batch + 1) * 1024)   \(Int(Double(section * 1024) / seconds))   "
            + "\(rounded(longest * 1000)) ms   \(memory("VmRSS")) MiB")
        (seconds, longest) = (0, 0)
      }
      print(
        "durable appends on PostgreSQL, batches of 1,024: \(Int(Double(batchCount * 1024) / total)) a second")
      print("disk: \(try storage.byteCount() / UInt64(batchCount * 1024)) bytes an entry")
      try log.close()
    }

    private static func oneByOne(_ url: String) async throws {
      let (log, _) = try create(url, "single")
      var workload = Workload(seed: 2, entries: 2000)
      let start = Clock.seconds()
      for _ in 0..<2000 { try await log.append([workload.next()]) }
      print("one client, one by one: \(Int(2000 / (Clock.seconds() - start))) acknowledgements a second")
      try log.close()
    }

    private static func create(_ url: String, _ name: String) throws -> (AuditLog, PostgreSQLStorage) {
      let storage = try PostgreSQLStorage(creatingAt: url, options: PostgreSQLOptions(schema: schema(name)))
      let signer = try NoteSignerKey.generate(name: "example.com/bench")
      let log = try AuditLog.create(
        in: storage, configuration: TrailConfiguration(origin: "example.com/bench"), signer: signer,
        checkpoints: MemoryCheckpointStore())
      return (log, storage)
    }

    /// One for each run.
    private static func schema(_ name: String) -> String { "bench_\(name)_\(getpid())" }
  }
#endif
