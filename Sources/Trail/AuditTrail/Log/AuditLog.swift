// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FingerprintIndex
public import ReceiptCodec
internal import ReceiptVerification
internal import Synchronization
internal import TransparencyLog

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
    package var maximumWaiting = 16384
    /// The size in bytes of the records, including receipts, that may wait to be stored before an append is refused as
    /// ``AuditError/Code/overloaded``; 256 MiB by default.
    package var maximumWaitingByteCount = 256 << 20
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

  /// The configuration that was chosen when the trail was created.
  package var configuration: TrailConfiguration { context.keys.configuration }
  let storage: any TrailStorage
  let context: TrailContext
  let options: Options
  let rounds: WitnessRounds?
  let writer: Mutex<TrailWriter>
  let states: KnownStates
  /// The head whose signature was verified last.
  let verifiedHead: Mutex<SignedHead>
  let appends: AppendPipeline
  let isCheckpointDue = Mutex(false)
  let publishing = Mutex(PublishingRecord())
  let isClosing = Atomic(false)
  private let lastIndexedSize = Atomic<UInt64>(0)
  let merger: Mutex<IndexMerger>
  private let merging = DispatchQueue(label: "receiptkit.audit-log.index-merger")

  init(
    _ storage: any TrailStorage, _ context: TrailContext, _ writer: sending TrailWriter, _ options: Options
  ) throws {
    guard let state = writer.written else { throw AuditError(.closed, "The trail is closed.") }
    self.storage = storage
    self.context = context
    verifiedHead = Mutex(state.signed)
    self.options = options
    rounds = options.witnesses.map { WitnessRounds($0) }
    states = KnownStates(state, durable: writer.durable)
    self.writer = Mutex(writer)
    appends = AppendPipeline(
      AppendQueue(
        maximumWaiting: options.maximumWaiting, maximumWaitingByteCount: options.maximumWaitingByteCount,
        maximumBatch: options.maximumBatch))
    merger = Mutex(
      IndexMerger(storage: context.keys.index(in: storage)) {
        UInt64(max(0, Self.milliseconds(SystemClock.now()) / 1000))
      })
    if writer.canWrite {
      mergeIndex()
      // These entries are of a process that ended before it published them.
      if writer.checkpointSize < state.head.size { scheduleCheckpoint() }
    }
  }

  // MARK: - Changing

  /// Syncs everything that this process wrote, and shows it to readers.
  func synchronizeAll() throws(AuditError) {
    do { try states.synchronize(storage) } catch {
      throw writer.withLock { $0.stop(after: error) }
    }
  }

  /// Changes the trail, and shows the new state to readers if it is durable.
  func change<Result: Sendable>(
    _ body: (inout TrailWriter) throws(AuditError) -> Result
  ) throws(AuditError) -> Result {
    let outcome: Swift.Result<Result, AuditError> = writer.withLock { writer in
      let outcome = Swift.Result { () throws(AuditError) in try body(&writer) }
      states.remove(writer.takeRemoved())
      if let now = writer.written { states.take(now) }
      return outcome
    }
    return try outcome.get()
  }

  /// Returns `true` if the last commit flushed the index, so that there may be runs to merge.
  private func isFlushed() -> Bool {
    let indexedSize = states.written.head.indexedSize
    return lastIndexedSize.exchange(indexedSize, ordering: .sequentiallyConsistent) != indexedSize
  }

  /// Merges runs if the last commit made one.
  func mergeIndexIfFlushed() { if isFlushed() { mergeIndex() } }

  /// Merges index runs in the background, between appends.
  private func mergeIndex() {
    merging.async { [self] in
      // If the storage fails, appends meet the same error; the rest of the merging can wait.
      var isMore = true
      while isMore, !isClosing.load(ordering: .sequentiallyConsistent) {
        isMore = (try? merger.withLock { merger in try merger.step() }) ?? false
        FreedMemory.release()
      }
    }
  }

  /// Waits until the merging has ended after its current step.
  func stopMerging() { merging.sync {} }

  /// Releases the claims on unfinished merges, so that others need not wait for them to lapse.
  func releaseMerges() {
    // A claim that cannot be released lapses.
    merger.withLock { merger in try? merger.release() }
  }

  static func milliseconds(_ time: Timestamp) -> Int64 {
    Int64(exactly: time.millisecondsSince1970.rounded(.down)) ?? 0
  }
}
