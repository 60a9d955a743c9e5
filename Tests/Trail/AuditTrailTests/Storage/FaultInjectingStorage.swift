// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Synchronization

/// Another storage, one of whose operations fails: for tests that have each one fail in turn.
///
/// Operations are counted from 1: every `put`, `overwrite`, `remove`, the commit that ends a write, and every sync that is
/// no part of a write.
final class FaultInjectingStorage: TrailStorage {
  /// The way in which an operation fails.
  struct Fault: Sendable, Hashable {
    /// The code of the error. After `syncFailed` every further write fails until ``reopen()``.
    let code: StorageError.Code
    /// `true` if a failing commit takes place all the same, as it may if only its sync failed.
    let isCommitted: Bool
    /// `true` if everything after it fails too, until ``heal()``, as on a disk that stays full.
    let lasts: Bool

    init(_ code: StorageError.Code, isCommitted: Bool = false, lasts: Bool = false) {
      self.code = code
      self.isCommitted = isCommitted
      self.lasts = lasts
    }

    /// Every fault that a storage of the contract can have while writing.
    static let all = [
      Fault(.full), Fault(.full, lasts: true), Fault(.inputOutput), Fault(.inputOutput, lasts: true),
      Fault(.busy), Fault(.syncFailed), Fault(.syncFailed, isCommitted: true),
    ]
  }

  /// The operations that are counted.
  enum Operation: Sendable, Hashable {
    case put(StorageTable)
    case overwrite(StorageTable)
    case remove(StorageTable)
    case commit
    /// Whatever fault is planned for it, it fails as a sync does.
    case synchronize
  }

  private let base: any TrailStorage
  private let state = Mutex(State())

  private struct State {
    var operations: [Operation] = []
    var planned: (number: Int, fault: Fault)?
    var lasting: StorageError?
    var stop: StorageError?
  }

  /// Wraps a storage; nothing fails yet.
  init(_ base: any TrailStorage) { self.base = base }

  /// All operations so far, failed ones included.
  var operations: [Operation] { state.withLock { $0.operations } }

  /// Plans for the operation `number`, from now on, to fail.
  func fail(at number: Int, with fault: Fault) {
    state.withLock { $0.planned = ($0.operations.count + number, fault) }
  }

  /// Ends all faults, planned ones too, except a failed sync.
  func heal() {
    state.withLock {
      $0.planned = nil
      $0.lasting = nil
    }
  }

  /// The same trail opened anew, without faults.
  func reopen() -> FaultInjectingStorage { FaultInjectingStorage(base) }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try base.read(body)
  }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let result = try writeUnsynchronized(body)
    try base.synchronize()
    return result
  }

  func synchronize() throws {
    if let stop = state.withLock({ $0.stop }) { throw stop }
    if let error = countSynchronize() { throw error }
    try base.synchronize()
  }

  func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    if let stop = state.withLock({ $0.stop }) { throw stop }
    var committed: StorageError?
    let result = try base.writeUnsynchronized { writer in
      let faulty = FaultyWriter(base: writer, storage: self)
      let result = try body(faulty)
      // A body that caught a fault and went on commits nothing.
      if let fault = faulty.fault { throw fault }
      if let (error, fault) = count(.commit) {
        guard fault.isCommitted else { throw error }
        committed = error
      }
      return result
    }
    if let committed { throw committed }
    return result
  }

  func scrub() throws { try base.scrub() }

  func byteCount() throws -> UInt64 { try base.byteCount() }

  func structuralFaults() throws -> [String] { try base.structuralFaults() }

  func close() throws { try base.close() }

  /// Counts a sync; gives the error that it is to fail with. A disk that stays full does not fail it.
  private func countSynchronize() -> StorageError? {
    state.withLock { state in
      state.operations.append(.synchronize)
      guard let planned = state.planned, planned.number == state.operations.count else { return nil }
      let error = StorageError(
        .syncFailed, at: "operation \(planned.number), \(Operation.synchronize)", "A planned fault.")
      state.stop = error
      return error
    }
  }

  /// Counts an operation; gives the error that it is to fail with.
  fileprivate func count(_ operation: Operation) -> (StorageError, Fault)? {
    state.withLock { state in
      state.operations.append(operation)
      if let lasting = state.lasting { return (lasting, Fault(lasting.code, lasts: true)) }
      guard let planned = state.planned, planned.number == state.operations.count else { return nil }
      let number = state.operations.count
      let error = StorageError(
        planned.fault.code, at: "operation \(number), \(operation)", "A planned fault.")
      if planned.fault.lasts { state.lasting = error }
      if error.code == .syncFailed { state.stop = error }
      return (error, planned.fault)
    }
  }
}

private final class FaultyWriter: StorageWriter {
  private let base: any StorageWriter
  private let storage: FaultInjectingStorage
  private(set) var fault: StorageError?

  init(base: any StorageWriter, storage: FaultInjectingStorage) {
    self.base = base
    self.storage = storage
  }

  private func count(_ operation: FaultInjectingStorage.Operation) throws {
    guard let (error, _) = storage.count(operation) else { return }
    fault = fault ?? error
    throw error
  }

  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? { try base.value(table, key) }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    try base.value(table, key, bytes: range)
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    try base.forEach(table, in: keys, body)
  }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    try base.lastKey(table, in: keys)
  }

  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    try count(.put(table))
    try base.put(table, key, value)
  }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    try count(.overwrite(table))
    try base.overwrite(table, key, at: offset, with: bytes)
  }

  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
    try count(.remove(table))
    try base.remove(table, in: keys, erasing: erasing)
  }
}
