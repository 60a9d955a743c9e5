// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization

/// A storage whose commits fail on demand, like those of a full disk or a killed process.
final class FaultyRecordStorage: RecordStorage {
  /// The fault of a commit.
  enum Fault: Sendable {
    /// The disk is full: nothing is stored, and the next commit may succeed.
    case full
    /// It cannot be written: nothing is stored.
    case inputOutput
    /// Its sync fails; neither it nor a later commit is stored. The stored state is as after a kill before it.
    case lost
    /// Its sync fails, but it is stored; no later commit is. The stored state is as after a kill after it.
    case stored

    /// It is stored, but its caller is told the opposite, which no storage may do. The next commit may succeed.
    case unacknowledged

    /// Those that a storage may have.
    static let allCases: [Fault] = [.full, .inputOutput, .lost, .stored]
    /// Each way to store or not, and to go on or not.
    static let withUnacknowledged: [Fault] = [.inputOutput, .unacknowledged, .lost, .stored]

    var endsTheStorage: Bool { self == .lost || self == .stored }
  }

  private let base: any RecordStorage
  private let decide: @Sendable () -> Fault?
  private let state = Mutex(State())

  private struct State {
    var count = 0
    var plan: [Int: Fault] = [:]
    var hasEnded = false
  }

  /// - Parameters:
  ///   - base: Keeps the records.
  ///   - decide: Decides about each commit that has no fault of its own.
  init(
    _ base: any RecordStorage = MemoryRecordStorage(),
    deciding decide: @escaping @Sendable () -> Fault? = { nil }
  ) {
    self.base = base
    self.decide = decide
  }

  /// Lets a commit fail, counted from now as 1.
  func fail(_ fault: Fault, atCommit number: Int) {
    state.withLock { $0.plan[$0.count + number] = fault }
  }

  func failNothing() { state.withLock { $0.plan = [:] } }

  /// `true` if neither reads nor commits succeed any more.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The number of attempted commits.
  var commitCount: Int { state.withLock { $0.count } }

  /// The storage in memory as the next process finds it.
  func reopened() -> FaultyRecordStorage {
    FaultyRecordStorage((base as? MemoryRecordStorage)?.reopened() ?? MemoryRecordStorage())
  }

  func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try requireUse()
    return try base.records(in: collection, after: key, limit: limit)
  }

  func records(
    in collection: RecordCollection, before key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try requireUse()
    return try base.records(in: collection, before: key, limit: limit)
  }

  func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]? {
    try requireUse()
    return try base.value(of: key, in: collection)
  }

  func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try requireUse()
    let fault = state.withLock { state in
      state.count += 1
      let fault = state.plan[state.count] ?? decide()
      if fault?.endsTheStorage == true { state.hasEnded = true }
      return fault
    }
    switch fault {
    case nil: try base.commit(changes)
    case .full: throw RecordStorageError(.full, "no space")
    case .inputOutput: throw RecordStorageError(.inputOutput, "cannot be written")
    case .lost: throw RecordStorageError(.syncFailed, "not synced")
    case .stored:
      try base.commit(changes)
      throw RecordStorageError(.syncFailed, "not synced")
    case .unacknowledged:
      try base.commit(changes)
      throw RecordStorageError(.inputOutput, "said to be not written")
    }
  }

  func close() throws(RecordStorageError) { try base.close() }

  private func requireUse() throws(RecordStorageError) {
    if hasEnded { throw RecordStorageError(.syncFailed, "an earlier sync failed") }
  }
}
