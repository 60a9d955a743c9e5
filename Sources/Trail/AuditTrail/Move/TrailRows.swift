// SPDX-License-Identifier: Apache-2.0

extension TrailView {
  /// Calls `body` with all entries in order, with one bundle in memory at a time. Entries are verified against the
  /// tree, erasable parts against the commitments, and forgotten keys against the erasures, in both directions. Throws
  /// ``AuditError/Code/tampered``, ``StorageError``, and the errors of `body`.
  package func forEachRow(_ body: (TrailRow) throws -> Void) throws {
    var parts = ErasableParts(reader)
    try entries.forEach(in: 0..<size) { index, stored in
      let recorded = try RecordedEntry(index: index, bytes: stored.entry)
      if recorded.entry.kind == .erasure, let erased = recorded.entry.erased, try parts.hasKey(of: erased) {
        throw ErasureLookup.keyIsBack(of: erased, erasure: index)
      }
      let erasable: TrailRow.Erasable? = try recorded.entry.commitment.map { commitment in
        guard try parts.bytes(at: index, stored, commitment: commitment) == nil else { return .kept }
        try erasures.requireErasure(of: index)
        return .erased
      }
      try body(TrailRow(recorded: recorded, erasable: erasable))
    }
  }
}
