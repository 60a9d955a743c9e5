// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Foundation
import Synchronization

/// A storage in memory. A loss of power leaves only what was synced.
final class VolatileStorage: TrailStorage {
  private let memory = MemoryStorage()
  private let state: Mutex<State>
  /// The duration of a sync, in microseconds.
  private let microseconds: Range<UInt32>

  private struct State {
    var synced: MemoryStorage
    /// Of the sync that `synced` is of: syncs overlap.
    var newest = 0
    var syncs = 0
    var failing: Int?
    var isHeld = false
    var fault: StorageError?
  }

  init(microseconds: Range<UInt32> = 0..<2000) {
    state = Mutex(State(synced: MemoryStorage()))
    self.microseconds = microseconds
  }

  /// The contents that a loss of power at this moment would leave.
  var afterPowerLoss: MemoryStorage { state.withLock { $0.synced.copy() } }

  /// Of that, how many entries the head counts.
  var syncedSize: UInt64 { Self.size(afterPowerLoss) }

  /// The same of what was written.
  var writtenSize: UInt64 { Self.size(memory) }

  private static func size(_ storage: MemoryStorage) -> UInt64 {
    guard let head = try? storage.stored(.head, 0) else { return 0 }
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix("size ") }.flatMap { UInt64($0.dropFirst(5)) } ?? 0
  }

  /// Has syncs that were begun not end, or end again.
  func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

  /// Waits until so many entries are written and so many syncs begun; `false` if that does not come to be.
  func reaches(size: UInt64, syncs: Int = 0) async -> Bool {
    for _ in 0..<30_000 {
      if writtenSize >= size, syncCount >= syncs { return true }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  /// The number of syncs.
  var syncCount: Int { state.withLock { $0.syncs } }

  /// Has the sync after the next `count` fail, and everything after it.
  func fail(after count: Int) { state.withLock { $0.failing = $0.syncs + count + 1 } }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try memory.read(body) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let result = try writeUnsynchronized(body)
    try synchronize()
    return result
  }

  func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    if let fault = state.withLock({ $0.fault }) { throw fault }
    return try memory.write(body)
  }

  func synchronize() throws {
    let number = try state.withLock { state in
      if let fault = state.fault { throw fault }
      state.syncs += 1
      return state.syncs
    }
    let now = memory.copy()
    usleep(.random(in: microseconds))
    while state.withLock({ $0.isHeld }) { usleep(500) }
    try state.withLock { state in
      if number == state.failing {
        state.fault = StorageError(.syncFailed, at: "sync \(number)", "As asked.")
      }
      if let fault = state.fault { throw fault }
      if number > state.newest { (state.newest, state.synced) = (number, now) }
    }
  }

  func scrub() throws { try memory.scrub() }
  func byteCount() throws -> UInt64 { try memory.byteCount() }
  func close() throws { try memory.close() }
}

/// A checkpoint store that has somebody look at each checkpoint before it is in its place.
struct WatchedCheckpointStore: CheckpointStore {
  private let base = MemoryCheckpointStore()
  let watch: @Sendable ([UInt8]) -> Void

  func load() -> [UInt8]? { base.load() }

  func replace(_ old: [UInt8]?, with new: [UInt8]) -> Bool {
    watch(new)
    return base.replace(old, with: new)
  }
}
