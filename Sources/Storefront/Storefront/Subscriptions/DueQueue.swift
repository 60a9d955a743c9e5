// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A priority queue of due dates, as a binary heap. At the same instant, the lower identifier comes first, so the
/// order is deterministic.
struct DueQueue: Sendable {
  struct Entry: Sendable, Hashable {
    let date: Timestamp
    let identifier: String

    func precedes(_ other: Entry) -> Bool {
      if date != other.date { return date < other.date }
      return identifier.utf8.lexicographicallyPrecedes(other.identifier.utf8)
    }
  }

  private var heap: [Entry] = []

  var count: Int { heap.count }
  var first: Entry? { heap.first }

  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].precedes(heap[parent]) else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  /// Rebuilds the queue without stale entries, which would otherwise stay until they are due.
  mutating func replace(with entries: [Entry]) {
    heap = entries.sorted { $0.precedes($1) }
  }
}
