// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import TransparencyLog

/// An open audit trail, which records verdicts, finds them and proves them.
///
/// Entries are appended exactly once. They cannot be changed, reordered or omitted afterwards without detection: they
/// are the leaves of a Merkle tree (RFC 6962) whose checkpoints are signed. Any number of tasks may use one log, and
/// several processes may have the same trail open.
public final class AuditLog: Sendable {
  package var configuration: TrailConfiguration { context.keys.configuration }
  var storage: any TrailStorage { writer.storage }
  var context: TrailContext { writer.context }
  let writer: TrailWriter
  let reader: Reader
  let publisher: Publisher
  let index: IndexMaintenance
  let rounds: WitnessRounds?
  let appender: Appender
  let grants: Grants
  let erasure: Erasure
  /// The clock that gives the times of anchors and key entries.
  let clock: @Sendable () -> Timestamp

  init(_ writer: TrailWriter, _ options: Options) {
    self.writer = writer
    reader = Reader(writer)
    publisher = Publisher(writer, options)
    index = IndexMaintenance(writer)
    rounds = options.witnesses.map { [reader, publisher] witnesses in
      WitnessRounds(witnesses, writer, reader, publisher, maximumWaiting: options.maximumWaiting)
    }
    appender = Appender(writer, publisher, index, rounds, options)
    grants = Grants(
      writer: writer, reader: reader, publisher: publisher, index: index, rounds: rounds,
      maximumCount: options.maximumWaiting)
    erasure = Erasure(writer: writer, publisher: publisher, clock: options.clock)
    clock = options.clock
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
      return AuditLog(try TrailWriter(storage, trusting: verifier, signer, checkpoints, options), options)
    } catch { throw AuditError(error) }
  }

  /// Commits waiting appends, publishes a checkpoint if there is a private key, and closes the storage.
  ///
  /// - Throws: ``AuditError`` if the checkpoint could not be published; the storage is closed nevertheless.
  public func close() throws(AuditError) {
    index.close()
    publisher.close()
    appender.close()
    defer { try? storage.close() }
    do throws(AuditError) { try publisher.publish() } catch { if error.code != .readOnly { throw error } }
  }
}
