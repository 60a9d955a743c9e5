// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization

/// When a dependency of a download queue fails.
final class FaultPlan: Sendable {
  enum Kind: Sendable, CaseIterable {
    /// Neither this step nor any later one is executed: the process was killed before it.
    case killedBefore
    /// The step is executed but not acknowledged; no later one is executed.
    case killedAfter
    /// Only this step fails.
    case failsOnce
  }

  private let step: Int
  private let kind: Kind
  private let count = Mutex(0)

  init(_ step: Int, _ kind: Kind) {
    self.step = step
    self.kind = kind
  }

  /// The number of steps.
  var stepCount: Int { count.withLock { $0 } }

  /// Counts the next step, and says if it is executed and if it is acknowledged.
  func next() -> (isTaken: Bool, isTold: Bool) {
    let number = count.withLock { count in
      defer { count += 1 }
      return count
    }
    switch kind {
    case .failsOnce: return (number != step, number != step)
    case .killedBefore: return (number < step, number < step)
    case .killedAfter: return (number <= step, number < step)
    }
  }
}

extension FaultyRecordStorage {
  /// A storage whose commits follow a fault plan.
  convenience init(_ base: any RecordStorage, plan: FaultPlan) {
    self.init(base) {
      let (isTaken, isTold) = plan.next()
      return isTold ? nil : isTaken ? .unacknowledged : .inputOutput
    }
  }
}

/// Files whose changes follow a fault plan.
struct FaultyFiles: DownloadFiles {
  let files: DownloadFolder
  let plan: FaultPlan
  var code = DownloadError.Code.inputOutput

  private func step<Value>(
    _ body: () throws(DownloadError) -> Value
  ) throws(DownloadError) -> Value {
    let (isTaken, isTold) = plan.next()
    let fault = DownloadError(code, "by plan")
    guard isTaken else { throw fault }
    let value = try body()
    guard isTold else { throw fault }
    return value
  }

  func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64? { try files.byteCount(of: file) }

  func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool {
    try step { () throws(DownloadError) in try files.append(bytes, to: name, at: offset) }
  }

  func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8] {
    try files.read(file, at: offset, count: count)
  }

  func complete(_ name: String) throws(DownloadError) {
    try step { () throws(DownloadError) in try files.complete(name) }
  }

  func remove(_ file: DownloadFile) throws(DownloadError) {
    try step { () throws(DownloadError) in try files.remove(file) }
  }

  func partialNames() throws(DownloadError) -> [String] { try files.partialNames() }

  func path(of file: DownloadFile) -> String { files.path(of: file) }
}
