// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
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
}

/// The keys under which the signed notes of a trail are stored.
enum TrailNotes {
  static let configuration: Int64 = 0
  static let checkpoint: Int64 = 1
  /// The first of the proofs of the entries that replaced keys.
  static let firstSuccession: Int64 = 2
  /// The texts of policies, by the first bits of their digests.
  static let policies: ClosedRange<Int64> = 1 << 62...Int64.max - 1
  /// The list of their digests, which the head vouches for.
  static let policyList: Int64 = 1 << 62 - 1

  static func policy(_ digest: SHA256Digest) -> Int64 {
    policies.lowerBound | Int64(truncatingIfNeeded: digest.words.0.bigEndian >> 2 & ~1)
  }
}
