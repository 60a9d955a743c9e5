// SPDX-License-Identifier: Apache-2.0

/// The runs of a catalogue with what is held of them in memory.
struct ResidentRuns: Sendable {
  let version: UInt64
  let indexedSize: UInt64
  let byKind: [RunsOfKind]
  private let memory: IndexMemory

  /// Loads what `known` does not have; without filters for who asks too little to be worth reading them.
  ///
  /// - Throws: ``StorageError``.
  init(
    _ catalogue: IndexCatalogue, knowing known: ResidentRuns? = nil, withFilters: Bool = true,
    in reader: any StorageReader
  ) throws {
    version = catalogue.version
    indexedSize = catalogue.indexedSize
    let memory = known?.memory ?? IndexMemory()
    self.memory = memory
    byKind = try IndexKind.allCases.map { kind in
      let knownRuns = known?[kind].runs ?? []
      return RunsOfKind(
        try catalogue.runs(of: kind).reversed().map { run in
          try knownRuns.first { $0.run.number == run.number }
            ?? ResidentRun(run, in: reader, withFilter: withFilters, memory: memory)
        })
    }
    // Filters go before pages.
    if memory.isExceeded { for kind in byKind { for run in kind.runs { run.forgetPages() } } }
  }

  subscript(kind: IndexKind) -> RunsOfKind { byKind[Int(kind.rawValue)] }
}

/// The runs of one kind, those of the newest entries first.
final class RunsOfKind: Sendable {
  let runs: [ResidentRun]
  /// Of each run.
  private let filters: [BlockedFilter.Content]

  init(_ runs: [ResidentRun]) {
    self.runs = runs
    filters = runs.map { $0.filter?.content ?? .none }
  }

  /// The first of the runs, from number `start` on, that may have records of the fingerprint.
  func first(from start: Int = 0, mayContain fingerprint: UInt64, _ bits: UInt64) -> Int? {
    var number = start
    while number < filters.count {
      if filters[number].mayContain(fingerprint, bits) { return number }
      number += 1
    }
    return nil
  }

  /// The newest index below `before` of the fingerprint.
  func newest(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any StorageReader
  ) throws -> UInt64? {
    let bits = BlockedFilter.bits(of: fingerprint)
    var start = 0
    while let number = first(from: start, mayContain: fingerprint, bits) {
      if let index = try runs[number].newest(fingerprint, check: check, before: before, in: reader) {
        return index
      }
      start = number + 1
    }
    return nil
  }

  /// Appends the indices below `before` of the fingerprint in the newest run that has any, newest first.
  func collect(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, limit: Int, in reader: any StorageReader,
    into found: inout [UInt64]
  ) throws {
    let bits = BlockedFilter.bits(of: fingerprint)
    var start = 0
    while let number = first(from: start, mayContain: fingerprint, bits) {
      try runs[number].collect(
        fingerprint, check: check, before: before, limit: limit, in: reader, into: &found)
      if !found.isEmpty { return }
      start = number + 1
    }
  }
}
