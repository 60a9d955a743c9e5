// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization

/// A storage that fails at one of its commits.
final class CrashingStorage: RecordStorage {
  enum Crash: String, CaseIterable, Sendable {
    /// Nothing is stored, and the store continues.
    case before
    /// It is stored, and reported as unknown.
    case after
    /// Nothing is stored, and the process ends.
    case killedBefore
    /// It is stored, and the process ends.
    case killedAfter
  }

  private struct State {
    var commits = 0
    var isKilled = false
  }

  private let base: any RecordStorage
  private let crash: Crash?
  private let number: Int
  private let state = Mutex(State())

  /// Fails at the commit of this number, counted from 1.
  init(_ base: any RecordStorage, crash: Crash? = nil, at number: Int = 0) {
    self.base = base
    self.crash = crash
    self.number = number
  }

  var commits: Int { state.withLock { $0.commits } }
  var isKilled: Bool { state.withLock { $0.isKilled } }

  func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try checkAlive()
    return try base.records(in: collection, after: key, limit: limit)
  }

  func records(
    in collection: RecordCollection, before key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try checkAlive()
    return try base.records(in: collection, before: key, limit: limit)
  }

  func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]? {
    try checkAlive()
    return try base.value(of: key, in: collection)
  }

  func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try checkAlive()
    let count = state.withLock { state in
      state.commits += 1
      return state.commits
    }
    guard let crash, count == number else { return try base.commit(changes) }
    if crash == .after || crash == .killedAfter { try base.commit(changes) }
    if crash == .killedBefore || crash == .killedAfter { state.withLock { $0.isKilled = true } }
    throw RecordStorageError(.inputOutput, "The test crashes here.")
  }

  func close() throws(RecordStorageError) {}

  private func checkAlive() throws(RecordStorageError) {
    if isKilled { throw RecordStorageError(.closed, "The process is gone.") }
  }
}
