// SPDX-License-Identifier: Apache-2.0

/// The runs of a catalogue with the parts of them that are held in memory.
struct ResidentRuns: Sendable {
  let root: IndexRoot
  let catalogue: IndexCatalogue
  private let byKind: [RunsOfKind]
  private let memory: IndexMemory

  /// Reads and verifies the runs that `known` does not have. Callers with few lookups pass `withFilters: false`,
  /// because reading filters would cost more than it saves.
  init(
    _ root: IndexRoot, knowing known: ResidentRuns? = nil, withFilters: Bool = true,
    in reader: any IndexReader
  ) throws {
    self.root = root
    let catalogue = try IndexCatalogue(root, in: reader)
    self.catalogue = catalogue
    if let known, catalogue.indexedSize < known.catalogue.indexedSize {
      throw IndexPlace.catalogue.corrupt("The index covers less than before; the storage was rolled back.")
    }
    let memory = known?.memory ?? IndexMemory()
    self.memory = memory
    byKind = try IndexKind.allCases.map { kind in
      RunsOfKind(
        try catalogue.runs(of: kind).reversed().map { run in
          try known?[kind].runs.first { $0.run == run }
            ?? ResidentRun(run, in: reader, withFilter: withFilters, memory: memory)
        })
    }
    // Filters take precedence over cached pages.
    if memory.isExceeded { for kind in byKind { for run in kind.runs { run.forgetPages() } } }
  }

  subscript(kind: IndexKind) -> RunsOfKind { byKind[Int(kind.rawValue)] }
}

/// The runs of one kind, with the newest entries first.
final class RunsOfKind: Sendable {
  let runs: [ResidentRun]
  private let filters: [BlockedFilter.Content]

  init(_ runs: [ResidentRun]) {
    self.runs = runs
    filters = runs.map { $0.filter?.content ?? .none }
  }

  /// The first of the runs, from position `start` on, that may have records of the fingerprint.
  func first(from start: Int = 0, mayContain fingerprint: UInt64, _ bits: UInt64) -> Int? {
    var number = start
    while number < filters.count {
      if filters[number].mayContain(fingerprint, bits) { return number }
      number += 1
    }
    return nil
  }

  func newest(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any IndexReader
  ) throws -> UInt64? {
    var newest: UInt64?
    try forEach(fingerprint, check: check, before: before, in: reader) { index in
      newest = index
      return false
    }
    return newest
  }

  /// Indices of the fingerprint below `before`, newest first, at most `limit`; if there are any, at least one.
  func indices(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, limit: Int, in reader: any IndexReader
  ) throws -> [UInt64] {
    var indices: [UInt64] = []
    try forEach(fingerprint, check: check, before: before, in: reader) { index in
      indices.append(index)
      return indices.count < limit
    }
    return indices
  }

  /// Passes the indices to `body` from the newest run that has any.
  private func forEach(
    _ fingerprint: UInt64, check: UInt32, before: UInt64, in reader: any IndexReader,
    _ body: (UInt64) -> Bool
  ) throws {
    let bits = BlockedFilter.bits(of: fingerprint)
    var isFound = false
    var start = 0
    while !isFound, let number = first(from: start, mayContain: fingerprint, bits) {
      try runs[number].forEach(fingerprint, check: check, before: before, in: reader) { index in
        isFound = true
        return body(index)
      }
      start = number + 1
    }
  }
}
