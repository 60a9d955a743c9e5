// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The pages of a run that were read, to be looked up in again: they never change.
///
/// Those of kinds whose records can be removed do, and are not kept.
final class KeptPages: Sendable {
  private let memory: IndexMemory
  private let pages: Mutex<[IndexPage?]>

  init(count: Int, in memory: IndexMemory) {
    self.memory = memory
    pages = Mutex([IndexPage?](repeating: nil, count: count))
  }

  deinit { forgetAll() }

  /// The page, if it is kept.
  subscript(number: Int) -> IndexPage? { pages.withLock { $0[number] } }

  /// Keeps a page, if there is memory left for it.
  func keep(_ page: IndexPage, number: Int) {
    guard memory.takeIfLeft(page.bytes.count) else { return }
    let isNew = pages.withLock { pages in
      guard pages[number] == nil else { return false }
      pages[number] = page
      return true
    }
    if !isNew { memory.giveBack(page.bytes.count) }
  }

  /// Gives all memory back.
  func forgetAll() {
    let forgotten = pages.withLock { pages in
      let kept = pages
      for number in pages.indices { pages[number] = nil }
      return kept
    }
    memory.giveBack(forgotten.reduce(0) { $0 + ($1?.bytes.count ?? 0) })
  }
}
