// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailPostgreSQL
import AuditTrailTesting
import Synchronization
import Testing

/// The contract of every checkpoint store.
@Suite("Checkpoint stores")
struct CheckpointStoreTests {
  @Test(arguments: CheckpointPlace.allCases)
  func comparesBeforeItSwaps(_ place: CheckpointPlace) throws {
    let folder = try CheckpointFolder()
    let store = try place.store(in: folder)
    #expect(try store.load() == nil)
    #expect(try store.replace([1], with: [2]) == false)
    #expect(try store.load() == nil)
    #expect(try store.replace(nil, with: [2]))
    #expect(try store.load() == [2])
    #expect(try store.replace(nil, with: [3]) == false)
    #expect(try store.replace([2, 0], with: [3]) == false)
    #expect(try store.replace([], with: [3]) == false)
    #expect(try store.load() == [2])
    let long = [UInt8](repeating: 7, count: 70_000)
    #expect(try store.replace([2], with: long))
    #expect(try store.replace(long, with: [4]))
    #expect(try store.load() == [4])
  }

  /// Each thread adds one to a counter a hundred times; any swap without its comparison would lose some.
  @Test(arguments: CheckpointPlace.allCases)
  func onlyOneOfSeveralSwapsWins(_ place: CheckpointPlace) async throws {
    let folder = try CheckpointFolder()
    let shared = try place.store(in: folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          // Each task has a store of its own, unless the checkpoint is in this process's memory.
          let store = place == .memory ? shared : try place.store(in: folder)
          var added = 0
          while added < 100 {
            let old = try store.load()
            let count = old.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            if try store.replace(old, with: Array("\(count + 1)".utf8)) { added += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try shared.load() == Array("400".utf8))
  }
}

/// The stores that can be used here.
enum CheckpointPlace: CaseIterable {
  case memory, file, postgreSQL

  static var allCases: [CheckpointPlace] {
    #if PostgreSQL
      if PostgreSQLServer.isPresent { return [.memory, .file, .postgreSQL] }
    #endif
    return [.memory, .file]
  }

  func store(in folder: CheckpointFolder) throws -> any CheckpointStore {
    switch self {
    case .memory: return MemoryCheckpointStore()
    case .file: return FileCheckpointStore(path: folder.path("checkpoint"))
    case .postgreSQL:
      #if PostgreSQL
        let server = try PostgreSQLServer.shared.get()
        return try PostgreSQLCheckpointStore(server.url(schema: "checkpoints"), name: folder.path(""))
      #else
        throw StorageError(.unsupported, "This build has no PostgreSQL.")
      #endif
    }
  }
}
