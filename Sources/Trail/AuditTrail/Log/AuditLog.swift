// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
public import ReceiptCodec
internal import ReceiptVerification

/// An open audit trail, which records verdicts, finds them and proves them.
///
/// Entries are appended exactly once. They cannot be changed, reordered or omitted afterwards without detection: they
/// are the leaves of a Merkle tree (RFC 6962) whose checkpoints are signed. Any number of tasks may use one log, and
/// several processes may have the same trail open.
public final class AuditLog: Sendable {
  /// The settings of a process that uses a trail.
  ///
  /// They are not part of the trail.
  public struct Options: Sendable {
    /// The longest time that an entry may be without a checkpoint that includes it; one second by default.
    public var checkpointInterval: Duration = .seconds(1)
    /// The number of records that may wait to be stored before an append is refused as ``AuditError/Code/overloaded``.
    ///
    /// An append that is accepted may exceed this limit, so that a large one is not refused forever while small ones
    /// keep coming.
    public var maximumWaiting = 16384
    /// The size in bytes of the records, including receipts, that may wait to be stored before an append is refused as
    /// ``AuditError/Code/overloaded``; 256 MiB by default.
    public var maximumWaitingByteCount = 256 << 20
    /// The maximum number of records in one transaction.
    package var maximumBatch = 1024
    /// The clock that gives the times of erasures and anchors.
    public var clock: @Sendable () -> Timestamp = SystemClock.now
    /// The longest time that entries may be without a published checkpoint while publishing fails, before appends are
    /// refused as ``AuditError/Code/checkpointOverdue``.
    ///
    /// There is no limit by default.
    public var maximumUncheckpointedAge: Duration?
    /// A closure that is called with the events that no caller is informed of, for logging.
    public var eventHandler: (@Sendable (AuditLogEvent) -> Void)?
    /// The witnesses that cosign checkpoints; needed for ``AcknowledgementMode/witnessed``.
    public var witnesses: Witnesses?

    /// The number of entries after which index records are written as runs; smaller in tests, so that there are runs.
    package var flushInterval = TrailLimits.flushInterval
    /// The length of fingerprints; shorter in tests, so that some collide.
    package var fingerprintBits = IndexKey.fingerprintBits

    /// Creates the default options.
    public init() {}
  }

  package var configuration: TrailConfiguration { context.keys.configuration }
  let storage: any TrailStorage
  let context: TrailContext
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
    storage = writer.storage
    context = writer.context
    self.writer = writer
    let (reader, publisher, index) = (Reader(writer), Publisher(writer, options), IndexMaintenance(writer))
    let rounds = options.witnesses.map {
      WitnessRounds($0, writer, reader, publisher, maximumWaiting: options.maximumWaiting)
    }
    self.reader = reader
    self.publisher = publisher
    self.index = index
    self.rounds = rounds
    appender = Appender(writer, publisher, index, rounds, options)
    grants = Grants(
      writer: writer, reader: reader, publisher: publisher, index: index, rounds: rounds,
      maximumCount: options.maximumWaiting)
    erasure = Erasure(writer: writer, publisher: publisher, clock: options.clock)
    clock = options.clock
  }
}
