// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory that the runs of one index may take: filters have what they need, and pages that were read once are kept
/// in what that leaves. A trail of a million entries is looked up in without reading; one of ten million reads, as its
/// filters take up all of it.
final class IndexMemory: Sendable {
  /// In bytes, found by measurement: a process with ten million entries stays below 128 MB.
  static let limit = 24 << 20

  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int = IndexMemory.limit) { self.limit = limit }

  /// Takes what a filter needs.
  func take(_ byteCount: Int) { used.add(byteCount, ordering: .relaxed) }

  func release(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }

  /// Takes what a page needs; `false` where there is not as much left.
  func takeIfLeft(_ byteCount: Int) -> Bool {
    guard used.add(byteCount, ordering: .relaxed).newValue > limit else { return true }
    release(byteCount)
    return false
  }

  /// Indicates whether filters took what pages have.
  var isExceeded: Bool { used.load(ordering: .relaxed) > limit }
}

/// The cache of a run's pages that were read and verified whole: pages never change.
///
/// Those of kinds whose records can be removed do, and are not cached.
final class PageCache: Sendable {
  /// The memory that a page takes, including that of the heap and the table.
  static let pageByteCount = 4_352

  private let memory: IndexMemory
  private let pages = Mutex<[Int: IndexPage]>([:])

  init(in memory: IndexMemory) { self.memory = memory }

  deinit { forgetAll() }

  subscript(number: Int) -> IndexPage? { pages.withLock { $0[number] } }

  /// Keeps a page, if there is memory left for it.
  ///
  /// - Throws: ``IndexError/Code/corrupt``.
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

  /// Releases all memory.
  func forgetAll() {
    let count = pages.withLock { pages in
      defer { pages = [:] }
      return pages.count
    }
    memory.release(count * Self.pageByteCount)
  }
}
