// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FingerprintIndex
public import ReceiptCodec
internal import ReceiptVerification
internal import Synchronization
internal import TransparencyLog

/// An audit trail that is open: verdicts are entered into it, found in it, and proved from it.
///
/// Entries are appended exactly once, and cannot be changed, reordered or left out afterwards without its showing:
/// they are the leaves of a Merkle tree (RFC 6962) whose checkpoints are signed. Any number of tasks may use one
/// log, and several processes may have the same trail open.
public final class AuditLog: Sendable {
  /// The options of a process's use of a trail. None of them is part of the trail.
  public struct Options: Sendable {
    /// The time for which an entry may be without a checkpoint that includes it; a second by default.
    public var checkpointInterval: Duration = .seconds(1)
    /// The records that may wait to be stored before an append is refused as ``AuditError/Code/overloaded``. An append that
    /// is taken in may go beyond it, so that a large one is not refused for ever while small ones keep coming.
    public var maximumWaiting = 16384
    /// The bytes of records, receipts included, that may wait to be stored before an append is refused as
    /// ``AuditError/Code/overloaded``; 256 MiB by default.
    public var maximumWaitingByteCount = 256 << 20
    /// The records that are stored in one transaction at most.
    public var maximumBatch = 1024
    /// The clock that dates erasures and anchors.
    public var clock: @Sendable () -> Timestamp = SystemClock.now
    /// For how long entries may be without a published checkpoint while publishing fails, before appends are refused as
    /// ``AuditError/Code/checkpointOverdue``; by default there is no limit.
    public var maximumUncheckpointedAge: Duration?
    /// Called with what no caller is told of, to be logged.
    public var eventHandler: (@Sendable (AuditLogEvent) -> Void)?
    /// The witnesses of checkpoints; needed for ``AcknowledgementMode/witnessed``.
    public var witnesses: Witnesses?

    /// After how many entries index records are written as runs; less in tests, so that there are runs.
    package var flushInterval = TrailLimits.flushInterval
    /// The length of fingerprints; less in tests, so that some collide.
    package var fingerprintBits = IndexKey.fingerprintBits

    /// The defaults.
    public init() {}
  }

  /// The settings that were made when the trail was created.
  public var configuration: TrailConfiguration { context.keys.configuration }
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
      // Those of a process that ended before it published.
      if writer.checkpointSize < state.head.size { scheduleCheckpoint() }
    }
  }

  // MARK: - Changing

  /// Has everything synced that this process wrote, and shows it to readers.
  func synchronizeAll() throws(AuditError) {
    do { try states.synchronize(storage) } catch {
      throw writer.withLock { $0.stop(after: error) }
    }
  }

  /// Changes the trail, and publishes the new state to readers as far as it is durable.
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

  /// Indicates whether the index was flushed by the last commit: there may be runs to merge.
  private func isFlushed() -> Bool {
    let indexedSize = states.written.head.indexedSize
    return lastIndexedSize.exchange(indexedSize, ordering: .sequentiallyConsistent) != indexedSize
  }

  /// Has runs merged where the last commit made one.
  func mergeIndexIfFlushed() { if isFlushed() { mergeIndex() } }

  /// Merges index runs, in the background and between appends.
  private func mergeIndex() {
    merging.async { [self] in
      // Appends meet the same fault of the storage if there is one; what is left to merge can wait.
      var isMore = true
      while isMore, !isClosing.load(ordering: .sequentiallyConsistent) {
        isMore = (try? merger.withLock { merger in try merger.step() }) ?? false
        FreedMemory.release()
      }
    }
  }

  /// Ends the merging, after the step that is under way.
  func stopMerging() { merging.sync {} }

  /// Leaves merges that are under way to others, who would else wait for the claims to lapse.
  func releaseMerges() {
    // A claim that cannot be given up lapses.
    merger.withLock { merger in try? merger.release() }
  }

  static func milliseconds(_ time: Timestamp) -> Int64 {
    Int64(exactly: time.millisecondsSince1970.rounded(.down)) ?? 0
  }
}
