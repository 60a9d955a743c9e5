// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory budget for the runs of one index. Filters take as much as they need, and the rest is used to cache pages.
/// Lookups in a trail of a million entries therefore need no reads. In a trail of ten million entries they do, because
/// filters take up the entire budget.
final class IndexMemory: Sendable {
  /// The budget in bytes, determined by measurement: a process with ten million entries stays below 128 MB.
  static let limit = 24 << 20

  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int = IndexMemory.limit) { self.limit = limit }

  func take(_ byteCount: Int) { used.add(byteCount, ordering: .relaxed) }

  func release(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }

  /// Reserves memory for a page; `false` if not enough is left.
  func takeIfLeft(_ byteCount: Int) -> Bool {
    guard used.add(byteCount, ordering: .relaxed).newValue > limit else { return true }
    release(byteCount)
    return false
  }

  /// Indicates whether filters have exceeded the budget, so that cached pages must be released.
  var isExceeded: Bool { used.load(ordering: .relaxed) > limit }
}

/// The cache of a run's pages that were read and completely verified. Cached pages must never change. Pages of kinds
/// whose records can be removed do change, so they are not cached.
final class PageCache: Sendable {
  /// The size of a cached page, including the overhead of the heap and the table.
  static let pageByteCount = 4_352

  private let memory: IndexMemory
  private let pages = Mutex<[Int: IndexPage]>([:])

  init(in memory: IndexMemory) { self.memory = memory }

  deinit { forgetAll() }

  subscript(number: Int) -> IndexPage? { pages.withLock { $0[number] } }

  func keep(_ page: inout IndexPage, number: Int) throws(IndexError) {
    guard memory.takeIfLeft(Self.pageByteCount) else { return }
    do {
      try page.verifyAll()
    } catch {
      memory.release(Self.pageByteCount)
      throw error
    }
    let verified = page
    let isNew = pages.withLock { $0.updateValue(verified, forKey: number) == nil }
    if !isNew { memory.release(Self.pageByteCount) }
  }

  func forgetAll() {
    let count = pages.withLock { pages in
      defer { pages = [:] }
      return pages.count
    }
    memory.release(count * Self.pageByteCount)
  }
}
