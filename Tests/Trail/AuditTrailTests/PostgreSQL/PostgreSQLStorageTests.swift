// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import PostgreSQL
  import Foundation
  import Testing

  @testable import AuditTrailPostgreSQL

  /// The parts specific to PostgreSQL. The conformance suite covers the contract of every storage.
  @Suite("PostgreSQL storage", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence))
  struct PostgreSQLStorageTests {
    let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    @Test func readsWhatWasWrittenAnyWayItIsAsked() throws {
      let url = server.url()
      let storage = try PostgreSQLStorage(creatingAt: url)
      let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try storage.write { writer in
        try writer.put(.bundles, 7, long)
        for key in 0..<3000 as Range<Int64> { try writer.put(.tail, key, [UInt8(truncatingIfNeeded: key)]) }
        try writer.put(.head, 0, [])
        #expect(try writer.value(.head, 0) == [])
        try writer.put(.head, 0, [1])
        try writer.put(.tiles, .max, [3])
        try writer.put(.tiles, .min, [2])
      }
      for storage in [storage, try PostgreSQLStorage(openingAt: url)] {
        try storage.read { reader in
          #expect(try reader.value(.bundles, 7) == long)
          #expect(try reader.value(.bundles, 8) == nil)
          #expect(try reader.value(.bundles, 7, bytes: 100_000..<100_100) == Array(long[100_000..<100_100]))
          #expect(try reader.value(.bundles, 7, bytes: 299_990..<400_000) == Array(long[299_990...]))
          #expect(try reader.value(.bundles, 7, bytes: 300_000..<300_001) == [])
          #expect(try reader.value(.bundles, 7, bytes: 5..<5) == [])
          #expect(try reader.value(.bundles, 7, bytes: .max - 1 ..< .max) == [])
          #expect(try reader.value(.bundles, 8, bytes: 0..<1) == nil)
          #expect(try reader.value(.head, 0) == [1])
          #expect(try reader.lastKey(.tail, in: 0...5000) == 2999)
          #expect(try reader.lastKey(.tail, in: 3000...5000) == nil)
          var keys: [Int64] = []
          try reader.forEach(.tail, in: 10...2500) { key, value in
            #expect(value == [UInt8(truncatingIfNeeded: key)])
            keys.append(key)
            return true
          }
          #expect(keys == Array(10...2500))
          keys = []
          try reader.forEach(.tiles, in: .min ... .max) { key, _ in
            keys.append(key)
            return true
          }
          #expect(keys == [.min, .max])
        }
      }
    }

    @Test func fetchesTogetherWhatWillBeAskedFor() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      try storage.write { writer in
        for key in -300..<300 as Range<Int64> {
          try writer.put(.pages, key, [UInt8(truncatingIfNeeded: key)])
        }
        try writer.put(.pages, .max, [])
        try writer.prefetch(.pages) { [7] }
        try writer.put(.pages, 7, [70])
        #expect(try writer.value(.pages, 7) == [70])
      }
      try storage.read { reader in
        try reader.prefetch(.pages) { [] }
        try reader.prefetch(.pages) { Array(-400..<400) + [.max, 5, 5] }
        // From what was fetched: the session is gone.
        try server.connection(to: storage).execute(
          "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = '\(storage.schema).pages'::regclass"
        )
        #expect(try reader.value(.pages, -300) == [UInt8(truncatingIfNeeded: -300)])
        #expect(try reader.value(.pages, 7) == [70])
        #expect(try reader.value(.pages, .max) == [])
        #expect(throws: StorageError.self) { try reader.value(.pages, 300) }
      }
    }

    @Test func readsPartsWithoutReadingAll() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let kinds = try server.connection(to: storage).execute(
        """
        SELECT string_agg(DISTINCT attstorage::text, '') FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = '\(storage.schema)'::regnamespace AND attname = 'value' AND relkind = 'r'
        """)
      #expect(kinds.text(0, 0) == "e")
    }

    @Test func writesAllOrNothing() throws {
      struct Mistake: Error {}
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      try storage.write { try $0.put(.head, 0, [1]) }
      #expect(throws: Mistake.self) {
        try storage.write { writer in
          for key in 0..<2000 as Range<Int64> { try writer.put(.tail, key, [1]) }
          try writer.put(.head, 0, [2])
          #expect(try writer.value(.head, 0) == [2])
          throw Mistake()
        }
      }
      #expect(try storage.read { try $0.value(.head, 0) } == [1])
      #expect(try storage.read { try $0.lastKey(.tail, in: 0 ... .max) } == nil)
    }

    /// A transaction with a fault does not commit, even if the caller ignores the fault.
    @Test func doesNotCommitOverAFault() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let fault = try failure {
        try storage.write { writer in
          try writer.put(.head, 0, [1])
          try? writer.overwrite(.head, 1, at: 0, with: [2])
          try server.connection(to: storage).execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation = '\(storage.schema).trail'::regclass"
          )
          #expect(throws: StorageError.self) { try writer.value(.head, 0) }
          try? writer.put(.head, 0, [3])
        }
      }
      #expect(fault.code == .unavailable)
      #expect(try storage.read { try $0.value(.head, 0) } == nil)
    }

    @Test func seesOneStateAndNeverWaitsForAWriter() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      try storage.write { try $0.put(.head, 0, [1]) }
      try storage.read { reader in
        #expect(try reader.value(.head, 0) == [1])
        try storage.write { writer in
          try writer.put(.head, 0, [2])
          #expect(try storage.read { try $0.value(.head, 0) } == [1])
        }
        #expect(try reader.value(.head, 0) == [1])
        #expect(try storage.read { try $0.value(.head, 0) } == [2])
      }
    }

    @Test func saysWhenOthersWriteForTooLong() throws {
      let url = server.url()
      let storage = try PostgreSQLStorage(creatingAt: url)
      let impatient = PostgreSQLOptions(maximumConnections: 2, lockTimeout: .milliseconds(50))
      let other = try PostgreSQLStorage(openingAt: url, options: impatient)
      try storage.write { writer in
        try writer.put(.head, 0, [1])
        // Another storage, as another process would have it, and then the same one again.
        #expect(try failure { try other.write { try $0.put(.head, 0, [2]) } }.code == .busy)
      }
      let second = try other.write { _ in try failure { try other.write { try $0.put(.head, 0, [2]) } } }
      #expect(second.code == .busy)
      let third = try other.read { _ in try failure { try other.read { try $0.value(.head, 0) } } }
      #expect(third.code == .busy)
      try other.write { try $0.put(.head, 0, [3]) }
      #expect(try storage.read { try $0.value(.head, 0) } == [3])
    }

    @Test func doesNotWaitForeverForAWriterThatWasStopped() throws {
      let url = server.url()
      let stopped = try PostgreSQLStorage(
        creatingAt: url, options: PostgreSQLOptions(writerTimeout: .milliseconds(100)))
      let other = try PostgreSQLStorage(openingAt: url)
      let fault = try failure {
        try stopped.write { writer in
          try writer.put(.head, 0, [1])
          #expect(try writer.value(.head, 0) == [1])
          // Gets the lock when the server has ended the session of the one that is silent.
          try other.write { try $0.put(.head, 0, [2]) }
        }
      }
      #expect(fault.code == .unavailable)
      #expect(try stopped.read { try $0.value(.head, 0) } == [2])
    }

    /// Four storages. Each adds one to the number that it finds.
    @Test func givesEachWriterWhatTheLastOneWrote() async throws {
      let url = server.url()
      let first = try PostgreSQLStorage(creatingAt: url)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let storage = try PostgreSQLStorage(openingAt: url)
            for _ in 0..<50 {
              try storage.write { writer in
                let count = try writer.value(.head, 0)?.first ?? 0
                try writer.put(.head, 0, [count + 1])
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try first.read { try $0.value(.head, 0) } == [200])
    }

    @Test func overwritesOnlyWhatIsThere() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      try storage.write { try $0.put(.bundles, 0, [1, 2, 3, 4]) }
      try storage.write { try $0.overwrite(.bundles, 0, at: 1, with: [8, 9]) }
      #expect(try storage.read { try $0.value(.bundles, 0) } == [1, 8, 9, 4])
      for (key, offset) in [(0, 3), (0, 4), (0, -1), (0, Int.max - 2), (1, 0)] as [(Int64, Int)] {
        let fault = try failure {
          try storage.write { try $0.overwrite(.bundles, key, at: offset, with: [7, 7]) }
        }
        #expect(fault.code == .corrupt)
        #expect(fault.place == "bundles \(key)")
      }
      #expect(try storage.read { try $0.value(.bundles, 0) } == [1, 8, 9, 4])
    }
  }
#endif
