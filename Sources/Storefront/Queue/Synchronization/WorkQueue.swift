// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue of transactions.
struct WorkQueue {
  private var items: [SequenceNumber]
  private var taken = 0

  init(_ items: [SequenceNumber] = []) { self.items = items }

  var isEmpty: Bool { taken == items.count }

  var count: Int { items.count - taken }

  mutating func append(_ item: SequenceNumber) { items.append(item) }

  mutating func append(contentsOf more: some Sequence<SequenceNumber>) { items.append(contentsOf: more) }

  mutating func popFirst() -> SequenceNumber? {
    guard taken < items.count else { return nil }
    defer {
      taken += 1
      if taken * 2 >= items.count {
        items.removeFirst(taken)
        taken = 0
      }
    }
    return items[taken]
  }
}
