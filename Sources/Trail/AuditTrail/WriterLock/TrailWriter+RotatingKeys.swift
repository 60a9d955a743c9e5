// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

extension TrailWriter {
  /// Enters that another key takes over, signed by the current one, and syncs it.
  ///
  /// The new key signs everything after it.
  func rotateKey(to new: NoteSignerKey, at time: Int64) throws(AuditError) -> KeySuccession {
    try locked { state throws(AuditError) in
      let succession = try state.write { trail, storage in
        try trail.replaceKey(by: new, at: time, in: storage)
      }
      try state.synchronize()
      context.keys.adopt(new, succession)
      return succession
    }
  }
}

extension TrailState {
  fileprivate mutating func replaceKey(
    by new: NoteSignerKey, at time: Int64, in writer: any StorageWriter
  ) throws -> KeySuccession {
    let old = try context.keys.signer()
    let record = AuditRecord(EntryFacts(time: time, kind: .key, key: new.verifierKey.text))
    let index = try append(own: [record], in: writer)[0].index
    let checkpoint = try Checkpoint(origin: context.keys.origin, size: head.size, root: head.root)
    let tiles = tiles(in: writer)
    let entry = try entries(in: writer).entry(at: index)
    let hashes = try MerkleTree.inclusionProof(index: index, size: head.size, reader: tiles)
    let proof = try LogProof(
      extra: entry, index: index, inclusionProof: hashes, checkpoint: try checkpoint.signed(by: old))
    guard let succession = try KeySuccession(proof, by: old.verifierKey) else {
      throw AuditError(.wrongKey, at: "key", "The new key cannot be read from its entry.")
    }
    signed = try context.keys.store(new, succession, head, in: writer)
    return succession
  }
}
