// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex

extension TrailWriter {
  /// Erases the parts of ascending entries and records that, in one transaction, which must be synced and scrubbed.
  func erase(_ indexes: [UInt64], at time: Int64) throws(AuditError) -> [AuditAcknowledgement] {
    try locked { state throws(AuditError) in
      try state.write { trail, writer in try trail.erase(indexes, at: time, in: writer) }
    }
  }

  /// Removes some rows of an unfinished reindexing, which may name erased customers; `true` if more may be left.
  func removeUnfinishedIndex() throws(AuditError) -> Bool {
    try locked { state throws(AuditError) in
      try state.write { trail, writer in
        try IndexRebuild.removeUnfinished(beside: trail.head.indexRoot, in: WritableIndexRows(base: writer))
      }
    }
  }
}

extension TrailState {
  fileprivate mutating func erase(
    _ indexes: [UInt64], at time: Int64, in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    let entries = entries(in: writer)
    let lookup = lookup(in: writer)
    var parts = ErasableParts(writer)
    var acknowledgements: [AuditAcknowledgement?] = []
    var forgotten = ForgottenParts()
    var erased: [(index: UInt64, original: String?)] = []
    for index in indexes {
      let stored = try entries.entryWithLengths(at: index)
      let entry = try RecordedEntry(index: index, bytes: stored.entry).entry
      guard let commitment = entry.commitment else {
        throw AuditError(.noSuchEntry, at: "entry \(index)", "The entry has no erasable part.")
      }
      let erasure = try lookup.erasure(of: index)
      acknowledgements.append(erasure.map { AuditAcknowledgement(index: $0, isRepeat: true) })
      do {
        guard let bytes = try parts.bytes(at: index, lengths: stored.lengths, commitment: commitment) else {
          guard erasure != nil else { throw EntryLookup.unconfirmed(index) }
          continue
        }
        // Erased entries are included: their keys may have come back with older copies of the keys.
        try forgotten.add(index, bytes.span, context.keys.fingerprints)
      } catch let error as AuditError where error.code == .tampered && erasure != nil {
        // The key is back, but the stored bytes are not the part.
        forgotten.add(index)
      }
      if erasure == nil { erased.append((index, entry.original)) }
    }
    try forget(forgotten, in: writer)
    let records = erased.map { erased in
      AuditRecord(EntryFacts(time: time, kind: .erasure, original: erased.original, erased: erased.index))
    }
    var entered = try append(own: records, in: writer)[...]
    return acknowledgements.compactMap { $0 ?? entered.popFirst() }
  }
}
