// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AuditTrail

@Suite("Checkpoint file")
struct FileCheckpointStoreTests {
  @Test func isReadableByAllAndAlone() throws {
    let folder = try CheckpointFolder()
    let store = FileCheckpointStore(path: folder.path("checkpoint"))
    #expect(try store.replace(nil, with: [1]))
    #expect(try folder.entries() == ["checkpoint", "checkpoint.lock"])
    for name in try folder.entries() {
      #expect(try folder.permissions(name) == 0o644)
    }
  }

  /// A crash leaves the old or the new checkpoint, whole, and the next replacement goes through.
  @Test(arguments: FileCheckpointStore.Step.allCases)
  func isWholeAfterACrash(after step: FileCheckpointStore.Step) throws {
    let folder = try CheckpointFolder()
    let path = folder.path("checkpoint")
    let (old, new) = (Array("old checkpoint".utf8), Array("new".utf8))
    #expect(try FileCheckpointStore(path: path).replace(nil, with: old))
    let crashing = FileCheckpointStore(path: path) { reached throws(StorageError) in
      if reached == step { throw StorageError(.inputOutput, "cut off") }
    }
    #expect(throws: StorageError(.inputOutput, "cut off")) { try crashing.replace(old, with: new) }

    let reopened = FileCheckpointStore(path: path, lockTimeout: .zero)
    let left = try #require(try reopened.load())
    #expect(left == (step == .renamed ? new : old))
    #expect(try reopened.replace(left, with: [9]))
    #expect(try reopened.load() == [9])
    #expect(try folder.entries() == ["checkpoint", "checkpoint.lock"])
  }

  @Test func waitsForAnotherProcessAndSaysWhenItWaitedTooLong() throws {
    let folder = try CheckpointFolder()
    let path = folder.path("checkpoint")
    let held = try LockHolder(path: "\(path).lock")
    let impatient = FileCheckpointStore(path: path, lockTimeout: .milliseconds(20))
    let error = #expect(throws: StorageError.self) { try impatient.replace(nil, with: [1]) }
    #expect(error?.code == .busy)
    #expect(error?.place == "\(path).lock")
    #expect(try impatient.load() == nil)
    // The lock goes with the process that held it, however that ended.
    held.end()
    #expect(try FileCheckpointStore(path: path).replace(nil, with: [1]))
  }

  @Test func namesWhatIsWrong() throws {
    let folder = try CheckpointFolder()
    let nowhere = FileCheckpointStore(path: folder.path("absent/checkpoint"))
    #expect(try nowhere.load() == nil)
    #expect(throws: StorageError.self) { try nowhere.replace(nil, with: [1]) }
    #expect((try? failure { try nowhere.replace(nil, with: [1]) })?.code == .notFound)

    let directory = FileCheckpointStore(path: folder.path("directory"))
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
    #expect((try? failure { try directory.load() })?.code == .inputOutput)

    let long = FileCheckpointStore(path: folder.path("long"))
    let tooLong = [UInt8](repeating: 0, count: maximumStoredCheckpointByteCount + 1)
    #expect((try? failure { try long.replace(nil, with: tooLong) })?.code == .unsupported)
    try Data(tooLong).write(to: URL(fileURLWithPath: long.path))
    #expect((try? failure { try long.load() })?.code == .corrupt)
  }

  private func failure(_ body: () throws -> Any?) throws -> StorageError? {
    try #require(throws: StorageError.self) { _ = try body() }
  }
}

/// Another process that holds a lock until it is killed.
private final class LockHolder {
  private let process = Process()

  init(path: String) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["flock", "--no-fork", path, "sh", "-c", "echo locked; exec sleep 60"]
    process.standardOutput = output
    try process.run()
    try #require(output.fileHandleForReading.availableData == Data("locked\n".utf8))
  }

  func end() {
    _ = kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { if process.isRunning { end() } }
}
