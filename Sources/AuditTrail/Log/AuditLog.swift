// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Logging
internal import FingerprintIndex
public import ReceiptCodec
internal import ReceiptVerification
internal import Synchronization
public import TransparencyLog

/// An audit trail that is open: verdicts are entered into it, found in it, and proved from it.
///
/// Entries are appended exactly once, and cannot be changed, reordered or left out afterwards without its showing:
/// they are the leaves of a Merkle tree (RFC 6962) whose checkpoints are signed. Any number of tasks may use one
/// log, and several processes may have the same trail open.
public final class AuditLog: Sendable {
  /// How a process uses a trail. None of it is part of the trail.
  public struct Options: Sendable {
    /// How long an entry may be without a checkpoint that includes it; a second by default.
    public var checkpointInterval: Duration = .seconds(1)
    /// The records that may wait to be stored before an append is refused as ``AuditError/Code/overloaded``.
    public var maximumWaiting = 16384
    /// The records that are stored in one transaction at most.
    public var maximumBatch = 1024
    /// The clock that dates erasures and anchors.
    public var clock: @Sendable () -> Timestamp = SystemClock.now
    /// For how long entries may be without a published checkpoint while publishing fails, before appends are refused as
    /// ``AuditError/Code/checkpointOverdue``; by default there is no limit.
    public var maximumUncheckpointedAge: Duration?
    /// Where faults that no caller is told of are logged: above all checkpoints that could not be published.
    public var logger: Logger?
    /// Who cosigns checkpoints; needed for ``AcknowledgementMode/witnessed``.
    public var witnesses: Witnesses?

    /// After how many entries index records are written as runs; less in tests, so that there are runs.
    package var flushInterval = TrailLimits.flushInterval

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
  private let appends: Mutex<AppendQueue>
  private let isCheckpointDue = Mutex(false)
  let publishing = Mutex(PublishingRecord())
  private let isClosing = Atomic(false)
  private let lastIndexedSize = Atomic<UInt64>(0)
  private let merger: Mutex<IndexMerger>
  private let merging = DispatchQueue(label: "receiptkit.audit-log.index-merger")
  private let preparing = DispatchQueue(label: "receiptkit.audit-log.preparing")
  private let work = DispatchQueue(label: "receiptkit.audit-log.writer")
  private let synchronizing = DispatchQueue(label: "receiptkit.audit-log.synchronizing")

  /// Creates a trail and opens it.
  ///
  /// - Parameters:
  ///   - storage: An empty storage.
  ///   - configuration: What the trail is and stays.
  ///   - signer: The private key, whose name is the origin.
  ///   - checkpoints: The place of the last checkpoint, which must be empty and no part of the storage's backups.
  ///   - options: How this process uses it.
  /// - Returns: The trail, open.
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
      guard try checkpoints.replace(nil, with: first.encoded) else {
        throw AuditError(
          .alreadyExists, at: "checkpoint",
          "The place of the last checkpoint holds that of another trail; choose another place.")
      }
    } catch { throw AuditError(error) }
    return try open(
      storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints, options: options)
  }

  /// Accepts a trail whose creation ended before its first checkpoint was published: creating it again ends that.
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
  ///   - storage: Where it is kept.
  ///   - verifier: Its public key: the first, or one that replaced it.
  ///   - signer: The private key that signs now; without it, the trail is only read.
  ///   - checkpoints: The place of the last checkpoint.
  ///   - options: How this process uses it.
  /// - Returns: The trail, open.
  /// - Throws: ``AuditError``: ``AuditError/Code/notATrail``; ``AuditError/Code/wrongKey``;
  ///   ``AuditError/Code/tampered``, ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` where the trail
  ///   is not the one that the last checkpoint is of.
  public static func open(
    _ storage: any TrailStorage, verifier: NoteVerifierKey, signer: NoteSignerKey? = nil,
    checkpoints: any CheckpointStore, options: Options = Options()
  ) throws(AuditError) -> AuditLog {
    do {
      let keys = try storage.read { try TrailKeys(reading: $0, trusting: verifier, signer: signer) }
      let context = TrailContext(
        keys: keys, nodes: TileNodeCache(), writer: UInt64.random(in: 1...UInt64.max))
      let writer = try TrailWriter(
        storage: storage, once: keys.configuration.once, context, checkpoints: checkpoints)
      return try AuditLog(storage, context, writer, options)
    } catch { throw AuditError(error) }
  }

  private init(
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
    appends = Mutex(AppendQueue(maximumWaiting: options.maximumWaiting, maximumBatch: options.maximumBatch))
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

  // MARK: - Appending

  /// Enters records, all in one transaction, and waits until they are as safe as `mode` says.
  ///
  /// A record that says what an entry says already (the same verdict of the same receipt under the same policy) is
  /// not entered again: the acknowledgement names the first.
  ///
  /// - Returns: For each record where it stands.
  /// - Throws: ``AuditError``. After ``AuditError/Code/storageUnavailable`` and ``AuditError/Code/stopped`` it is
  ///   not known whether the records were entered: append them again, which enters none twice. After
  ///   ``AuditError/Code/notWitnessed`` they were; ``AuditError/Code/noWitnesses`` is thrown before.
  @discardableResult
  public func append(
    _ records: [AuditRecord], acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    guard !records.isEmpty else { return [] }
    for record in records
    where [.erasure, .anchor, .key].contains(record.facts.kind) || record.facts.erased != nil {
      throw AuditError(
        .invalidRecord, at: "kind",
        "What was erased, which entry is the newest and which key took over is stated by the trail itself: erase, anchor "
          + "or rotate the key instead."
      )
    }
    try requirePublishing()
    if mode == .witnessed { try admitWitnessed() }
    let result = await withCheckedContinuation { continuation in
      let request = AppendQueue.ArrivedRequest(elements: records, mode: mode, continuation: continuation)
      do throws(AuditError) {
        let isToStart = try appends.withLock { appends throws(AuditError) in try appends.add(request) }
        if isToStart { preparing.async { self.prepare() } }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    let acknowledgements = try result.get()
    if mode == .witnessed { try await makeQuorum() }
    return acknowledgements
  }

  /// Enters one record, as ``append(_:acknowledgement:)-([AuditRecord],_)`` does many.
  @discardableResult
  public func append(
    _ record: AuditRecord, acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> AuditAcknowledgement {
    try await append([record], acknowledgement: mode)[0]
  }

  /// Prepares what arrived, until nothing is left, while others are committed.
  private func prepare() {
    while true {
      let requests = appends.withLock { $0.nextToPrepare() }
      guard !requests.isEmpty else { return }
      let runs = RunsLookup(states.written, once: configuration.once, storage: storage, context)
      // Records are large to copy, and a batch mostly comes in one request.
      let records = requests.count == 1 ? requests[0].elements : requests.flatMap(\.elements)
      var prepared = PreparedRecord.prepare(records, context.keys.fingerprints, lookingUpIn: runs)[...]
      let finished = requests.map { $0.taking(&prepared) }
      if appends.withLock({ $0.add(finished) }) { work.async { self.commitPrepared() } }
    }
  }

  /// Commits what is prepared, until nothing is left that need not wait for a sync.
  private func commitPrepared() {
    while true {
      let batch = appends.withLock { $0.nextToCommit() }
      guard !batch.isEmpty else { return }
      commit(batch)
    }
  }

  private func commit(_ batch: [AppendQueue.PreparedRequest]) {
    let records = batch.flatMap(\.elements)
    let flushInterval = options.flushInterval
    do {
      var acknowledgements = try change { writer throws(AuditError) in
        try writer.append(records, flushInterval: flushInterval)
      }[...]
      scheduleCheckpoint()
      mergeIndexIfFlushed()
      let entered = batch.map { $0.taking(&acknowledgements) }
      if appends.withLock({ $0.add(entered) }) { synchronizing.async { self.synchronizeEntered() } }
    } catch {
      // One record that cannot be entered is no reason to refuse those of others.
      if error.code == .invalidRecord, batch.count > 1 {
        for request in batch { commit([request]) }
      } else {
        for request in batch { request.continuation.resume(returning: .failure(error)) }
      }
    }
  }

  /// Syncs and acknowledges what is entered, until nothing is left, while more is entered.
  private func synchronizeEntered() {
    while true {
      let requests = appends.withLock { $0.nextToSynchronize() }
      guard !requests.isEmpty else { return }
      let outcome = Result { () throws(AuditError) in try synchronize(requests) }
      if appends.withLock({ $0.endSynchronizing() }) { work.async { self.commitPrepared() } }
      for request in requests where request.mode == .durable {
        request.continuation.resume(returning: outcome.map { request.elements })
      }
      let others = requests.filter { $0.mode != .durable }
      guard !others.isEmpty else { continue }
      let checkpoint = outcome.flatMap { _ in
        Result { () throws(AuditError) in _ = try self.publishCheckpoint() }
      }
      for request in others {
        request.continuation.resume(returning: checkpoint.map { request.elements })
      }
    }
  }

  /// Returns when all entries that are acknowledged to the requests are durable, and readers see them.
  private func synchronize(_ requests: [AppendQueue.EnteredRequest]) throws(AuditError) {
    let size = states.published.head.size
    // What repeats entries that readers see has nothing to wait for.
    guard requests.contains(where: { $0.elements.contains { $0.index >= size } }) else { return }
    try synchronizeAll()
  }

  /// Has everything synced that this process wrote, and shows it to readers.
  func synchronizeAll() throws(AuditError) {
    do { try states.synchronize(storage) } catch {
      throw writer.withLock { $0.stop(after: error) }
    }
  }

  /// Changes the trail, and shows readers what came of it as far as it is durable.
  func change<Result: Sendable>(
    _ body: (inout TrailWriter) throws(AuditError) -> Result
  ) throws(AuditError) -> Result {
    let outcome: Swift.Result<Result, AuditError> = writer.withLock { writer in
      let outcome = Swift.Result { () throws(AuditError) in try body(&writer) }
      if let now = writer.written { states.take(now) }
      return outcome
    }
    return try outcome.get()
  }

  /// Whether the index was flushed by the last commit: there may be runs to merge.
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
        FreedMemory.giveBack()
      }
    }
  }

  // MARK: - Checkpoints

  /// Signs and publishes a checkpoint of all entries, unless one is there already. Blocks: a task calls
  /// ``checkpoint()``.
  ///
  /// - Throws: ``AuditError/Code/readOnly`` without the private key; ``AuditError/Code/forked`` where a published
  ///   checkpoint contradicts the trail, which then stops.
  @discardableResult
  public func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    do throws(AuditError) {
      let checkpoint = try change { writer throws(AuditError) in try writer.publishCheckpoint() }
      notePublishing(nil)
      return checkpoint
    } catch {
      if error.code != .readOnly { notePublishing(error) }
      throw error
    }
  }

  /// Signs and publishes a checkpoint of all entries, unless one is there already.
  ///
  /// - Throws: As ``publishCheckpoint()``.
  @discardableResult
  public func checkpoint() async throws(AuditError) -> VerifiedCheckpoint {
    try await blocking { log throws(AuditError) in try log.publishCheckpoint() }
  }

  /// Has a checkpoint published within the interval. Where that fails it is tried again, until it succeeds or the trail
  /// is closed.
  func scheduleCheckpoint() {
    publishing.withLock { $0.noteEntries(at: .now) }
    let isScheduled = isCheckpointDue.withLock { isDue in
      defer { isDue = true }
      return isDue
    }
    guard !isScheduled else { return }
    let delay = options.checkpointInterval.components
    let nanoseconds = Int(delay.seconds) * 1_000_000_000 + Int(delay.attoseconds / 1_000_000_000)
    work.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self else { return }
      isCheckpointDue.withLock { $0 = false }
      do throws(AuditError) {
        try publishCheckpoint()
      } catch {
        // What stopped the trail is said at the next append.
        let isOver = error.code == .closed || writer.withLock { $0.stopped != nil }
        if !isOver, !isClosing.load(ordering: .sequentiallyConsistent) { scheduleCheckpoint() }
      }
    }
  }

  // MARK: - Closing

  /// Commits what waits, publishes a checkpoint where the private key is there, and closes the storage.
  ///
  /// - Throws: ``AuditError`` where the checkpoint could not be published; the storage is closed all the same.
  public func close() throws(AuditError) {
    isClosing.store(true, ordering: .sequentiallyConsistent)
    appends.withLock { $0.close() }
    merging.sync {}
    preparing.sync { prepare() }
    work.sync { commitPrepared() }
    synchronizing.sync { synchronizeEntered() }
    defer { try? storage.close() }
    do throws(AuditError) { try publishCheckpoint() } catch { if error.code != .readOnly { throw error } }
  }

  static func milliseconds(_ time: Timestamp) -> Int64 {
    Int64(exactly: time.millisecondsSince1970.rounded(.down)) ?? 0
  }
}
