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

extension ResidentRuns {
  /// Appends the indices below `before` of the fingerprint in the newest run that has any, newest first.
  func collect(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32, before: UInt64, limit: Int,
    in reader: any StorageReader, into found: inout [UInt64]
  ) throws {
    let bits = BlockedFilter.bits(of: fingerprint)
    for run in self[kind] where run.run.from < before {
      guard run.mayContain(fingerprint, bits) else { continue }
      try run.collect(fingerprint, check: check, before: before, limit: limit, in: reader, into: &found)
      if !found.isEmpty { return }
    }
  }
}
