// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FoundationEssentials
internal import SQLite
internal import Synchronization

/// Reads a file ahead of those who read its pages in another order.
final class ReadAhead: Sendable {
  private let group = DispatchGroup()
  private let isOver = Atomic(false)

  /// Begins to read, unless the file is so large that its beginning would be gone from memory before it is asked for.
  init(_ readers: ReaderPool, byteCount: UInt64) {
    guard byteCount < ProcessInfo.processInfo.physicalMemory / 4 * 3 else { return }
    // A serial queue gets a thread at once, whatever the number of processors: end() waits for it.
    DispatchQueue(label: "receipt-kit.read-ahead").async(group: group) { [self] in
      // Callers that need unreadable data find the error themselves.
      try? readers.withReader { try $0.readAhead { !isOver.load(ordering: .relaxed) } }
    }
  }

  /// Returns when nothing is read any more.
  func end() {
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }
}
