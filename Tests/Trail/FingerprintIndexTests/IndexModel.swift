// SPDX-License-Identifier: Apache-2.0

@testable import FingerprintIndex

/// Random numbers from a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}

/// What an index must answer, in the simplest way.
struct IndexModel {
  struct Sought: Hashable {
    let kind: IndexKind
    let fingerprint: UInt64
  }

  /// Ascending.
  private(set) var entries: [Sought: [UInt64]] = [:]

  mutating func insert(_ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64) {
    entries[Sought(kind: kind, fingerprint: fingerprint), default: []].append(index)
  }

  mutating func remove(_ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64) {
    entries[Sought(kind: kind, fingerprint: fingerprint)]?.removeAll { $0 == index }
  }

  mutating func rollback(to size: UInt64) {
    for key in entries.keys { entries[key]?.removeAll { $0 >= size } }
  }

  func candidates(_ kind: IndexKind, _ fingerprint: UInt64, before: UInt64 = .max) -> [UInt64] {
    (entries[Sought(kind: kind, fingerprint: fingerprint)] ?? []).reversed().filter { $0 < before }
  }

  func records(_ kind: IndexKind, below size: UInt64) -> [IndexRecord] {
    entries.filter { $0.key.kind == kind }
      .flatMap { key, indices in
        indices.filter { $0 < size }.map { IndexRecord(fingerprint: key.fingerprint, index: $0) }
      }
      .sorted { ($0.fingerprint, $0.index) < ($1.fingerprint, $1.index) }
  }
}

extension IndexEngine {
  func all(_ kind: IndexKind, _ fingerprint: UInt64, in reader: any IndexReader) throws -> [UInt64] {
    try snapshot(size: .max).all(kind, fingerprint, in: reader)
  }
}

extension IndexSnapshot {
  func all(_ kind: IndexKind, _ fingerprint: UInt64, in reader: any IndexReader) throws -> [UInt64] {
    var candidates = candidates(kind, fingerprint, in: reader)
    var found: [UInt64] = []
    while let next = try candidates.next() { found.append(next) }
    return found
  }
}

/// Where the sums are evaluated in tests.
func points() throws -> MultisetHash.Points {
  guard let points = MultisetHash.Points((0..<MultisetHash.Points.byteCount).map { UInt8($0 * 5) }) else {
    throw MemoryIndex.Fault()
  }
  return points
}
