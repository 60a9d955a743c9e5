// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

extension AuditLog {
  /// The keys of the trail: the trusted key, and those that took over from it.
  package var keys: KeyChain { context.keys.chain }

  /// Replaces the trail's key by another one.
  ///
  /// The current key signs an entry that names the new key, and the new key signs everything after it.
  ///
  /// Anyone who trusts the old key can follow the entry to the new one. Anything that the old key signs afterwards is
  /// not accepted.
  ///
  /// Other processes that write must open the trail again with the new private key; those that only read need not. A
  /// checkpoint that is signed by the new key is published. Witnesses must know this key before they cosign.
  ///
  /// - Parameter new: The new private key, which has the trail's name.
  /// - Returns: The entry, with its proof.
  /// - Throws: ``AuditError``: ``AuditError/Code/wrongKey`` if the key has another name or was in use before.
  @discardableResult
  package func rotateKey(to new: NoteSignerKey) async throws(AuditError) -> KeySuccession {
    guard new.name == configuration.origin, !keys.keys.contains(new.verifierKey) else {
      throw AuditError(
        .wrongKey, at: "key",
        "The new key is named \(configuration.origin), as the trail is, and was not in use before.")
    }
    let now = Self.milliseconds(options.clock())
    return try await blocking { log throws(AuditError) in
      let succession = try log.change { writer throws(AuditError) in
        let succession = try writer.write { state, storage in
          try state.replaceKey(by: new, now: now, in: storage)
        }
        log.context.keys.adopt(new, succession)
        return succession
      }
      try log.publishCheckpoint()
      return succession
    }
  }
}

extension TrailState {
  fileprivate mutating func replaceKey(
    by new: NoteSignerKey, now: Int64, in writer: any StorageWriter
  ) throws -> KeySuccession {
    let old = try context.keys.signer()
    let record = AuditRecord(EntryFacts(time: now, kind: .key, key: new.verifierKey.text))
    let index = try append([record], in: writer)[0].index
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
