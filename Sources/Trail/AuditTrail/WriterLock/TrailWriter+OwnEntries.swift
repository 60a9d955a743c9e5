// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

extension TrailWriter {
  /// Enters a statement that names the newest entry of an original transaction, all of which are read first, and syncs
  /// it.
  func anchor(_ original: String, at time: Int64) throws(AuditError) -> AuditAcknowledgement {
    try locked { state throws(AuditError) in
      let anchor = try state.write { trail, storage in
        var count: UInt64 = 0
        var newest: UInt64?
        try trail.lookup(in: storage).forEach(of: original) { recorded in
          newest = newest ?? recorded.index
          count += 1
          return true
        }
        let anchor = EntryFacts(
          time: time, kind: .anchor, original: original, size: trail.head.size, newest: newest, count: count)
        return try trail.append(own: [AuditRecord(anchor)], in: storage)[0]
      }
      try state.synchronize()
      return anchor
    }
  }

  /// Enters that another key takes over, signed by the current one, and syncs it; the new key signs everything after
  /// it.
  func rotateKey(to new: NoteSignerKey, at time: Int64) throws(AuditError) -> KeySuccession {
    try locked { state throws(AuditError) in
      let succession = try state.write { trail, storage in
        let old = try context.keys.signer()
        let record = AuditRecord(EntryFacts(time: time, kind: .key, key: new.verifierKey.text))
        let index = try trail.append(own: [record], in: storage)[0].index
        let size = trail.head.size
        let checkpoint = try Checkpoint(origin: context.keys.origin, size: size, root: trail.head.root)
        let proof = try LogProof(
          extra: trail.entries(in: storage).entry(at: index), index: index,
          inclusionProof: MerkleTree.inclusionProof(
            index: index, size: size, reader: trail.tiles(in: storage)),
          checkpoint: checkpoint.signed(by: old))
        guard let succession = try KeySuccession(proof, by: old.verifierKey) else {
          throw AuditError(.wrongKey, at: "key", "The new key cannot be read from its entry.")
        }
        trail.signed = try context.keys.store(new, succession, trail.head, in: storage)
        return succession
      }
      try state.synchronize()
      context.keys.adopt(new, succession)
      return succession
    }
  }
}
