// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto

#if PostgreSQL
  import AuditTrailPostgreSQL
  import Foundation
  import Synchronization
  import Testing
  import TransparencyLog

  @testable import AuditTrail

  /// Several processes that write to one trail. Some of them are killed.
  @Suite(
    "Several writers", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence),
    .enabled(if: AppendingProcess.isPresent, AppendingProcess.absence))
  struct SeveralWritersTests {
    private static let writers = 4
    private static let isFull = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1"
    /// Lines of each writer, and how many a process is given at a time.
    private static let (lineCount, chunk) = isFull ? (27_300, 2500) : (1080, 120)

    private final class Tally: Sendable {
      let all = Mutex(Acknowledged())
    }

    /// The acknowledged records of all processes.
    private struct Acknowledged {
      var indexes: [String: UInt64] = [:]
      var killed = 0
      var problems: [String] = []
    }

    @Test("keep one line of entries and of checkpoints, lose nothing and enter nothing twice")
    func killedAndRestarted() async throws {
      let folder = try CheckpointFolder()
      let url = try PostgreSQLServer.shared.get().url()
      let signer = try NoteSignerKey.generate(name: "example.com/several")
      try Data(signer.pem().utf8).write(to: URL(fileURLWithPath: folder.path("trail.key")))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: folder.path("trail.key"))
      try Data("\(signer.verifierKey)\n".utf8).write(to: URL(fileURLWithPath: folder.path("trail.pub")))
      let checkpoints = FileCheckpointStore(path: folder.path("checkpoint"))
      let storage = try PostgreSQLStorage(creatingAt: url)
      try AuditLog.create(
        in: storage, configuration: TrailConfiguration(origin: signer.name), signer: signer,
        checkpoints: checkpoints
      ).close()

      let acknowledged = Tally()
      let watch = CheckpointWatch(checkpoints)
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<Self.writers {
          group.addTask {
            await onThread {
              do {
                try write(as: writer, AppendingProcess(trail: url, folder: folder.path("")), acknowledged)
              } catch {
                acknowledged.all.withLock { $0.problems.append("\(error)") }
              }
            }
          }
        }
      }
      let result = acknowledged.all.withLock { $0 }
      #expect(result.problems == [])
      #expect(result.killed > 0)
      try check(result, PostgreSQLStorage(openingAt: url), signer, checkpoints, watch.end())
    }

    private func write(
      as writer: Int, _ process: AppendingProcess, _ acknowledged: Tally
    ) throws {
      var remaining = (0..<Self.lineCount).map { Self.name(writer, $0) }[...]
      while !remaining.isEmpty {
        let names = remaining.prefix(Self.chunk)
        // Killed at any moment from the start of the process to after its end.
        let isKilled = Int.random(in: 0..<5) < 2
        let outcome = try process.run(
          ArraySlice(names.map(Self.line)), name: "lines-\(writer)",
          killAfter: isKilled ? Int.random(in: 0...(Self.isFull ? 900 : 400)) : nil)
        acknowledged.all.withLock { all in
          all.killed += outcome.isKilled ? 1 : 0
          if let failure = outcome.failure { all.problems.append(failure) }
          for (name, index) in zip(names, outcome.indexes) {
            if let before = all.indexes[name], before != index {
              all.problems.append("\(name) is entry \(before) and entry \(index).")
            }
            all.indexes[name] = index
          }
        }
        if let failure = outcome.failure { throw PostgreSQLServer.Failure(reason: failure) }
        if !outcome.isKilled, outcome.indexes.count != names.count {
          throw PostgreSQLServer.Failure(
            reason: "\(outcome.indexes.count) of \(names.count) were acknowledged.")
        }
        remaining = remaining.dropFirst(outcome.indexes.count)
      }
    }

    private func check(
      _ result: Acknowledged, _ storage: PostgreSQLStorage, _ signer: NoteSignerKey,
      _ checkpoints: FileCheckpointStore,
      _ seen: [[UInt8]]
    ) throws {
      let log = try AuditLog.open(
        storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints)
      let expected = Set(
        (0..<Self.writers).flatMap { writer in (0..<Self.lineCount).map { Self.name(writer, $0) } })
      try log.withView { view in
        #expect(view.size == UInt64(expected.count))
        var found: [String: UInt64] = [:]
        for index in 0..<view.size {
          let name = try #require(try view.entry(at: index).entry.transaction)
          #expect(found.updateValue(index, forKey: name) == nil, "\(name) was entered twice")
        }
        #expect(Set(found.keys) == expected)
        #expect(found == result.indexes)

        var size: UInt64 = 0
        for bytes in seen {
          let checkpoint = try SignedCheckpoint(parsing: bytes).verified(by: signer.verifierKey).checkpoint
          #expect(checkpoint.size >= size)
          size = checkpoint.size
          #expect(try MerkleTree.root(size: size, reader: view.tiles) == checkpoint.root)
        }
        #expect(seen.count > 1)
      }
      let report = try TrailChecker(storage: storage, verifier: signer.verifierKey, checkpoints: checkpoints)
        .check()
      #expect(report.faults == [])
      try log.close()
    }

    /// Every ninth receipt comes to all of the writers.
    private static func name(_ writer: Int, _ number: Int) -> String {
      number % 9 == 0 ? "shared-\(number)" : "\(writer)-\(number)"
    }

    private static func line(_ name: String) -> String {
      let digest = SHA256Digest(of: Array(name.utf8)).bytes.map {
        String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
      }
      return """
        {"kind":"verdict","verdict":"valid","transactionId":"\(name)",\
        "originalTransactionId":"\(name.utf8.last ?? 0)","productId":"com.example.plan",\
        "receiptSha256":"\(digest.joined())","customer":"\(name.prefix(3))"}
        """
    }
  }

  /// Watches a checkpoint while others replace it.
  private final class CheckpointWatch: Sendable {
    private let seen = Mutex<(checkpoints: [[UInt8]], isEnded: Bool)>(([], false))
    private let ended = DispatchSemaphore(value: 0)

    init(_ store: FileCheckpointStore) {
      Thread.detachNewThread { [self] in
        while true {
          let isEnded = seen.withLock { $0.isEnded }
          if let bytes = try? store.load() {
            seen.withLock { if $0.checkpoints.last != bytes { $0.checkpoints.append(bytes) } }
          }
          if isEnded { break }
          usleep(2000)
        }
        ended.signal()
      }
    }

    /// All that were seen, in order.
    func end() -> [[UInt8]] {
      seen.withLock { $0.isEnded = true }
      ended.wait()
      return seen.withLock { $0.checkpoints }
    }
  }

  /// Has a thread of its own do what blocks.
  private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }
#endif
