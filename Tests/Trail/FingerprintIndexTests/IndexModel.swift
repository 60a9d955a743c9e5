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

/// A model of an index. It gives the answers that an index must give, in the simplest way.
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
  var runCount: Int { runs.catalogue.runs.count }

  mutating func insert(_ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64, check: UInt32 = 0) {
    withMemory { $0.insert(kind, fingerprint, index, check: check) }
  }

  func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) throws -> UInt64? {
    try snapshot(size: .max).newest(kind, fingerprint, check: check, before: before, in: reader)
  }

  func candidates(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) -> IndexCandidates {
    snapshot(size: .max).candidates(kind, fingerprint, check: check, before: before, in: reader)
  }

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

/// Returns the points at which tests evaluate the sums.
func points() throws -> MultisetHash.Points {
  guard let points = MultisetHash.Points((0..<MultisetHash.Points.byteCount).map { UInt8($0 * 5) }) else {
    throw MemoryIndex.Fault()
  }
  return points
}
