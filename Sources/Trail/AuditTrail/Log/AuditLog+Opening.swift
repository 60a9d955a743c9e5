// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import TransparencyLog

extension AuditLog {
  /// Creates a trail and opens it.
  ///
  /// - Parameters:
  ///   - storage: An empty storage.
  ///   - configuration: The constant properties of the trail.
  ///   - signer: The private key, whose name is the origin.
  ///   - checkpoints: The store of the last checkpoint, which must be empty and not part of the storage's backups.
  ///   - options: The settings of this process.
  /// - Returns: The opened trail.
  /// - Throws: ``AuditError``: ``AuditError/Code/alreadyExists``, ``AuditError/Code/wrongKey``, and those of
  ///   ``open(_:verifier:signer:checkpoints:options:)``.
  public static func create(
    in storage: any TrailStorage, configuration: TrailConfiguration, signer: NoteSignerKey,
    checkpoints: any CheckpointStore, options: Options = Options()
  ) throws(AuditError) -> AuditLog {
    guard signer.name == configuration.origin else {
      throw AuditError(
        .wrongKey, at: "key",
        "The key is named \(signer.name), the trail \(configuration.origin): the name of the key is the origin."
      )
    }
    do {
      let keys = try TrailKeys(configuration, signer: signer)
      let note = try SignedNote.sign(Array(configuration.text.utf8), by: [signer])
      let first = try Checkpoint(origin: configuration.origin, size: 0, root: .empty).signed(by: signer)
      try storage.write { writer in
        guard try writer.value(.head, 0) == nil, try writer.value(.notes, TrailNotes.configuration) == nil
        else {
          return try requireUnfinished(configuration, signer, in: writer)
        }
        try writer.put(.notes, TrailNotes.configuration, note.encoded)
        try writer.put(.notes, TrailNotes.checkpoint, first.encoded)
        try ErasureKeys.create(in: writer)
        try keys.write(.empty, in: writer)
      }
      // If the trail was created before, the store holds its own first checkpoint, whose signature is always the same.
      guard try checkpoints.replace(nil, with: first.encoded) || checkpoints.load() == first.encoded else {
        throw AuditError(
          .alreadyExists, at: "checkpoint",
          "The place of the last checkpoint holds that of another trail; choose another place.")
      }
    } catch { throw AuditError(error) }
    return try open(
      storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints, options: options)
  }

  /// Accepts a trail whose creation was interrupted before its first checkpoint was published; creating it again
  /// completes it.
  private static func requireUnfinished(
    _ configuration: TrailConfiguration, _ signer: NoteSignerKey, in writer: any StorageWriter
  ) throws {
    let taken = AuditError(.alreadyExists, "There is a trail already; open it, or choose another place.")
    guard let keys = try? TrailKeys(reading: writer, trusting: signer.verifierKey),
      keys.configuration.once == configuration.once, try keys.head(in: writer).size == 0
    else { throw taken }
  }

  /// Opens a trail.
  ///
  /// - Parameters:
  ///   - storage: The storage of the trail.
  ///   - verifier: The trail's public key: the first, or one that replaced it.
  ///   - signer: The private key that signs now; without it, the trail can only be read.
  ///   - checkpoints: The store of the last checkpoint.
  ///   - options: The settings of this process.
  /// - Returns: The opened trail.
  /// - Throws: ``AuditError``: ``AuditError/Code/notATrail``; ``AuditError/Code/wrongKey``;
  ///   ``AuditError/Code/tampered``, ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` if the trail does not
  ///   match the last checkpoint.
  public static func open(
    _ storage: any TrailStorage, verifier: NoteVerifierKey, signer: NoteSignerKey? = nil,
    checkpoints: any CheckpointStore, options: Options = Options()
  ) throws(AuditError) -> AuditLog {
    do {
      let keys = try storage.read {
        try TrailKeys(
          reading: $0, trusting: verifier, signer: signer, fingerprintBits: options.fingerprintBits)
      }
      let context = TrailContext(
        keys: keys, nodes: TileNodeCache(), writer: UInt64.random(in: 1...UInt64.max))
      let writer = try TrailWriter(
        storage, context, checkpoints: checkpoints, flushInterval: options.flushInterval)
      return AuditLog(storage, context, writer, options)
    } catch { throw AuditError(error) }
  }

  /// Commits waiting appends, publishes a checkpoint if there is a private key, and closes the storage.
  ///
  /// - Throws: ``AuditError`` if the checkpoint could not be published; the storage is closed nevertheless.
  public func close() throws(AuditError) {
    index.close()
    publisher.close()
    appends.close(self)
    defer { try? storage.close() }
    do throws(AuditError) { try publisher.publish() } catch { if error.code != .readOnly { throw error } }
  }
}
