// SPDX-License-Identifier: Apache-2.0

/// An ordered table of byte strings. A copy shares all unchanged chunks, so it can serve as a reader's snapshot and
/// for a writer's rollback.
struct MemoryTable: Sendable {
  private struct Chunk: Sendable {
    var keys: [Int64] = []
    var values: [[UInt8]] = []
  }

  private static let chunkLimit = 256

  /// The chunks, in ascending order of keys. No chunk is empty.
  private var chunks: [Chunk] = []

  /// The size of all values in bytes, plus 8 bytes for each key.
  var byteCount: UInt64 {
    chunks.reduce(0) { sum, chunk in
      chunk.values.reduce(sum + UInt64(8 * chunk.keys.count)) { $0 + UInt64($1.count) }
    }
  }

  func value(_ key: Int64) -> [UInt8]? {
    guard let place = place(of: key), let slot = slot(of: key, in: place) else { return nil }
    return chunks[place].values[slot]
  }

  func forEach(in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool) rethrows {
    for place in (self.place(of: keys.lowerBound) ?? 0)..<chunks.count {
      let chunk = chunks[place]
      for slot in lowerBound(of: keys.lowerBound, in: chunk.keys)..<chunk.keys.count {
        guard chunk.keys[slot] <= keys.upperBound else { return }
        guard try body(chunk.keys[slot], chunk.values[slot]) else { return }
      }
    }
  }

  func lastKey(in keys: ClosedRange<Int64>) -> Int64? {
    guard let place = place(of: keys.upperBound) else { return nil }
    let candidates = chunks[place].keys
    let above = Self.first(below: candidates.count) { candidates[$0] > keys.upperBound }
    guard above > 0, candidates[above - 1] >= keys.lowerBound else { return nil }
    return candidates[above - 1]
  }

  mutating func put(_ key: Int64, _ value: [UInt8]) {
    guard let place = place(of: key) ?? (chunks.isEmpty ? nil : 0) else {
      chunks = [Chunk(keys: [key], values: [value])]
      return
    }
    let slot = lowerBound(of: key, in: chunks[place].keys)
    if slot < chunks[place].keys.count, chunks[place].keys[slot] == key {
      chunks[place].values[slot] = value
      return
    }
    if chunks[place].keys.count < Self.chunkLimit {
      chunks[place].keys.insert(key, at: slot)
      chunks[place].values.insert(value, at: slot)
    } else if slot == Self.chunkLimit {
      chunks.insert(Chunk(keys: [key], values: [value]), at: place + 1)
    } else {
      let half = Self.chunkLimit / 2
      let upper = Chunk(
        keys: Array(chunks[place].keys[half...]), values: Array(chunks[place].values[half...]))
      chunks[place].keys.removeSubrange(half...)
      chunks[place].values.removeSubrange(half...)
      chunks.insert(upper, at: place + 1)
      put(key, value)
    }
  }

  mutating func remove(in keys: ClosedRange<Int64>) {
    var place = self.place(of: keys.lowerBound) ?? 0
    let first = place
    while place < chunks.count, chunks[place].keys.first.map({ $0 <= keys.upperBound }) ?? false {
      let lower = lowerBound(of: keys.lowerBound, in: chunks[place].keys)
      let upper = Self.first(below: chunks[place].keys.count) { chunks[place].keys[$0] > keys.upperBound }
      if lower < upper {
        chunks[place].keys.removeSubrange(lower..<upper)
        chunks[place].values.removeSubrange(lower..<upper)
      }
      place += 1
    }
    guard first < place else { return }
    let kept = chunks[first..<place].filter { !$0.keys.isEmpty }
    if kept.count < place - first { chunks.replaceSubrange(first..<place, with: kept) }
  }

  /// The index of the last chunk whose first key is not above `key`.
  private func place(of key: Int64) -> Int? {
    let above = Self.first(below: chunks.count) { chunks[$0].keys[0] > key }
    return above > 0 ? above - 1 : nil
  }

  private func slot(of key: Int64, in place: Int) -> Int? {
    let slot = lowerBound(of: key, in: chunks[place].keys)
    return slot < chunks[place].keys.count && chunks[place].keys[slot] == key ? slot : nil
  }

  private func lowerBound(of key: Int64, in keys: [Int64]) -> Int {
    Self.first(below: keys.count) { keys[$0] >= key }
  }

  /// The first number that satisfies a condition, which all greater ones must satisfy too; `count` if none does.
  private static func first(below count: Int, where condition: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
