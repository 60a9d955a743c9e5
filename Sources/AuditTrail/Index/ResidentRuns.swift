// SPDX-License-Identifier: Apache-2.0

/// The runs of a catalogue with what is held of them in memory.
struct ResidentRuns: Sendable {
  let version: UInt64
  let indexedSize: UInt64
  /// By kind; within one, newest entries first.
  let byKind: [[ResidentRun]]

  /// Loads what `known` does not have; without filters for who asks too little to be worth reading them.
  ///
  /// - Throws: ``StorageError``.
  init(
    _ catalogue: IndexCatalogue, knowing known: ResidentRuns? = nil, withFilters: Bool = true,
    in reader: any StorageReader
  ) throws {
    version = catalogue.version
    indexedSize = catalogue.indexedSize
    byKind = try IndexKind.allCases.map { kind in
      let knownRuns = known?.byKind[Int(kind.rawValue)] ?? []
      return try catalogue.runs(of: kind).reversed().map { run in
        try knownRuns.first { $0.run.number == run.number }
          ?? ResidentRun(run, in: reader, withFilter: withFilters)
      }
    }
  }

  subscript(kind: IndexKind) -> [ResidentRun] { byKind[Int(kind.rawValue)] }
}

/// Which runs may have which fingerprints of a batch, found in one go.
package struct IndexProbes: Sendable {
  fileprivate let kind: IndexKind
  fileprivate let version: UInt64
  /// A bit for each of the 63 newest runs, the newest lowest; the highest for all others.
  fileprivate var runs: [UInt64]

  /// Whether the fingerprint at `position` of the batch may be in a run.
  package func mayContain(_ position: Int) -> Bool { runs[position] != 0 }
}

extension ResidentRuns {
  func probe(_ kind: IndexKind, _ fingerprints: [UInt64]) -> IndexProbes {
    var found = [UInt64](repeating: 0, count: fingerprints.count)
    let bits = fingerprints.map { BlockedFilter.bits(of: $0) }
    for (number, run) in self[kind].enumerated() {
      let flag: UInt64 = 1 << UInt64(min(number, 63))
      if let filter = run.filter, number < 63 {
        var span = found.mutableSpan
        filter.mark(fingerprints.span, bits.span, flag, in: &span)
      } else {
        for position in found.indices { found[position] |= flag }
      }
    }
    return IndexProbes(kind: kind, version: version, runs: found)
  }

  /// Appends the indices below `before` of the fingerprint in the newest run that has any, newest first.
  func collect(
    _ kind: IndexKind, _ fingerprint: UInt64, before: UInt64, limit: Int, probed: (IndexProbes, Int)? = nil,
    in reader: any StorageReader, into found: inout [UInt64]
  ) throws {
    var candidates: UInt64 = .max
    if let (probes, position) = probed, probes.version == version, probes.kind == kind {
      candidates = probes.runs[position]
    }
    guard candidates != 0 else { return }
    let bits = BlockedFilter.bits(of: fingerprint)
    for (number, run) in self[kind].enumerated() where run.run.from < before {
      guard candidates &>> UInt64(min(number, 63)) & 1 == 1, run.mayContain(fingerprint, bits) else {
        continue
      }
      try run.collect(fingerprint, before: before, limit: limit, in: reader, into: &found)
      if !found.isEmpty { return }
    }
  }
}
