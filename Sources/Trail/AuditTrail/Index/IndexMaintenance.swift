// SPDX-License-Identifier: Apache-2.0

internal import CMalloc
internal import Dispatch
internal import FingerprintIndex
internal import ReceiptCodec
internal import ReceiptVerification
internal import Synchronization

/// Merges the index runs of an opened trail in the background, between changes.
final class IndexMaintenance: Sendable {
  private let writer: TrailWriter
  private let merger: Mutex<IndexMerger>
  private let queue = DispatchQueue(label: "receiptkit.audit-log.index-merger")
  private let isClosed = Atomic(false)
  private let lastIndexedSize = Atomic<UInt64>(0)

  init(_ writer: TrailWriter) {
    self.writer = writer
    merger = Mutex(
      IndexMerger(storage: StoredIndex(storage: writer.storage, keys: writer.context.keys)) {
        SystemClock.now().wholeSeconds
      })
    if writer.context.keys.canSign { merge() }
  }

  func mergeIfFlushed() {
    let indexedSize = writer.states.written.head.indexedSize
    guard lastIndexedSize.exchange(indexedSize, ordering: .sequentiallyConsistent) != indexedSize else {
      return
    }
    merge()
  }

  private func merge() {
    queue.async { [self] in
      // If the storage fails, appends meet the same error; the rest of the merging can wait.
      while !isClosed.load(ordering: .sequentiallyConsistent), (try? step()) ?? false {
        FreedMemory.release()
      }
      FreedMemory.release()
    }
  }

  /// Does one step of a merge, and returns `true` if there may be more to do.
  func step() throws -> Bool { try merger.withLock { merger in try merger.step() } }

  /// Ends the merging after its current step, and releases the claims on unfinished merges, so that others need not
  /// wait for them to lapse.
  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    queue.sync {}
    // A claim that cannot be released lapses.
    merger.withLock { merger in try? merger.release() }
  }
}

/// Memory that was freed but that the allocator still holds.
package enum FreedMemory {
  /// Returns the memory to the system after work that needed much for a short time, and would leave it fragmented.
  static func release() { CMalloc_giveBack() }

  /// Makes all threads share the allocator's arenas, like `MALLOC_ARENA_MAX=2` in the environment.
  ///
  /// This is for a process that only appends; call it before the process begins. The process decides this and not the
  /// trail, since it may slow down other threads that allocate much at the same time.
  package static func shareAmongThreads() { CMalloc_shareArenas() }
}
