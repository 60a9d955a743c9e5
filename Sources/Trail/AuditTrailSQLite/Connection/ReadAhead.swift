// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FoundationEssentials
internal import SQLite
internal import Synchronization

/// Reads a file sequentially in advance, for readers that access its pages in a different order.
final class ReadAhead: Sendable {
  private let group = DispatchGroup()
  private let isOver = Atomic(false)

  /// Starts to read, unless the file is so large that its beginning would be evicted from memory before it is needed.
  init(_ readers: ReaderPool, byteCount: UInt64) {
    guard byteCount < ProcessInfo.processInfo.physicalMemory / 4 * 3 else { return }
    // A serial queue gets a thread immediately, whatever the number of processors. end() waits for the block, so it
    // must not be delayed.
    DispatchQueue(label: "receipt-kit.read-ahead").async(group: group) { [self] in
      // Errors are ignored here: those who need the data encounter them.
      try? readers.withReader { try $0.readAhead { !isOver.load(ordering: .relaxed) } }
    }
  }

  /// Stops reading, and returns after the last read has ended.
  func end() {
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }
}
