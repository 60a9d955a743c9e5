// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

extension TrailWriter {
  func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    try locked { state throws(AuditError) in try state.publishCheckpoint() }
  }

  func add(
    _ lines: [NoteSignature], to checkpoint: VerifiedCheckpoint, by witnesses: CosignatureLines
  ) throws(AuditError) -> SignedCheckpoint {
    try locked { state throws(AuditError) in try state.add(lines, to: checkpoint, by: witnesses) }
  }
}

extension WriterState {
  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  fileprivate mutating func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    do {
      if let stopped { throw stopped }
      while true {
        _ = try context.keys.signer()
        if trail == nil { try refresh() }
        guard let head = trail?.head else { throw AuditError(.closed, "The trail is closed.") }
        let old = try follow()
        if let checkpoint, checkpoint.checkpoint.size >= head.size { return checkpoint }
        // Everything that is signed must be durable.
        try makeDurable()
        // The key is read only now, since following the trail may have replaced it.
        let new = try Checkpoint(origin: context.keys.origin, size: head.size, root: head.root)
          .signed(by: context.keys.signer())
        guard try checkpoints.store.replace(old, with: new.encoded) else { continue }
        let verified = try context.keys.chain.verify(new)
        try keep(verified)
        return verified
      }
    } catch {
      let error = AuditError(error)
      if error.code == .forked || error.code == .stopped { stopped = error }
      throw error
    }
  }

  /// Takes over a checkpoint that another process published, and returns the stored bytes.
  private mutating func follow() throws -> [UInt8]? {
    let bytes = try checkpoints.store.load()
    guard bytes != checkpoint?.signed.encoded else { return bytes }
    guard let published = try checkpoints.load(following: storage) else {
      throw AuditError(
        .forked, at: "checkpoint", "The last checkpoint was removed from its place while the trail was open.")
    }
    if published.checkpoint.size > trail?.head.size ?? 0 { try refresh() }
    if let trail { try storage.read { try PublishedCheckpoints.compare(published, with: trail, $0) } }
    checkpoint = published
    return published.signed.encoded
  }

  /// Stores a checkpoint that was published in the trail too.
  mutating func keep(_ published: VerifiedCheckpoint) throws {
    checkpoint = published
    try storage.write { try $0.put(.notes, TrailNotes.checkpoint, published.signed.encoded) }
  }

  /// Adds cosignatures to those that other processes added to a checkpoint, if it is still the published one.
  fileprivate mutating func add(
    _ lines: [NoteSignature], to checkpoint: VerifiedCheckpoint, by witnesses: CosignatureLines
  ) throws(AuditError) -> SignedCheckpoint {
    do {
      while true {
        guard let current = try checkpoints.load(following: storage),
          current.checkpoint == checkpoint.checkpoint
        else {
          // A newer checkpoint was published meanwhile; calls that wait for this one get it nevertheless.
          return try witnesses.adding(lines, to: checkpoint.signed)
        }
        let cosigned = try witnesses.adding(lines, to: current.signed)
        if cosigned == checkpoint.signed { return cosigned }
        let verified = try cosigned.verified(by: current.logKey)
        if let stopped { throw stopped }
        // If another process was faster, there is a new checkpoint to add them to.
        guard try checkpoints.store.replace(current.signed.encoded, with: cosigned.encoded) else { continue }
        try keep(verified)
        return cosigned
      }
    } catch {
      let error = AuditError(error)
      if error.code == .stopped { stopped = error }
      throw error
    }
  }
}
