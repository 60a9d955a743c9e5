// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Dispatch
  internal import FoundationEssentials
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  /// Verifies a stream with one receipt a line on all cores, in constant memory, with results in input order.
  ///
  /// Lines that have arrived are answered even if no further input follows.
  struct BatchVerification: Sendable {
    let verification: Verification
    let maximumLineByteCount: Int
    /// `true` if the first line must be refused if it looks like a form.
    var mayBeForm = false

    func run(
      _ body: some AsyncSequence<ByteBuffer, any Error> & Sendable, _ write: ([UInt8]) async throws -> Void
    ) async throws {
      let runs = RunQueue(limit: max(2, 2 * ProcessInfo.processInfo.activeProcessorCount)) {
        try await verified($0, from: $1)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          var failure: (any Error)?
          do {
            var splitter = LineSplitter(maximumLineLength: maximumLineByteCount)
            var isFirst = true
            for try await buffer in body {
              let bytes = buffer.getBytes(at: buffer.readerIndex, length: buffer.readableBytes) ?? []
              if mayBeForm, isFirst, let problem = ReceiptContent.problem(inForm: bytes) { throw problem }
              isFirst = false
              try await runs.append(splitter.split(bytes))
            }
            try await runs.append(splitter.finish())
          } catch {
            failure = error
          }
          runs.finish(failure)
        }
        do {
          while let run = try await runs.next() { try await write(run.value) }
        } catch {
          // The reading task must stop waiting for a place or for more of the body.
          runs.cancel()
          group.cancelAll()
          throw error
        }
        try await group.waitForAll()
      }
    }

    private func verified(_ lines: [[UInt8]], from first: Int) async throws -> [UInt8] {
      try await verification.verdicts(on: lines.map { ReceiptInputText.stripped($0) }) {
        [verification] verdicts, acknowledgements in
        var writer = JSONWriter()
        // The approximate length of verdicts on signed transactions.
        writer.reserveCapacity(verdicts.count * 1024)
        for offset in verdicts.indices {
          verification.write(verdicts[offset], acknowledgements?[offset], index: first + offset, to: &writer)
          writer.endLine()
        }
        return writer.bytes
      }
    }
  }

  /// Threads for work that would block an event loop for milliseconds.
  enum Workers {
    private static let queue = DispatchQueue(label: "receipt-kit.workers", attributes: .concurrent)

    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: work()) }
      }
    }
  }

  /// The tasks of a batch's runs, between its reader and its writer.
  private final class RunQueue: Sendable {
    typealias Run = Task<[UInt8], any Error>

    private let work: @Sendable (_ lines: [[UInt8]], _ first: Int) async throws -> [UInt8]
    private let state: Mutex<BatchRuns<Run, CheckedContinuation<Void, Never>>>

    init(
      limit: Int, _ work: @escaping @Sendable (_ lines: [[UInt8]], _ first: Int) async throws -> [UInt8]
    ) {
      self.work = work
      state = Mutex(BatchRuns(limit: limit))
    }

    private func begin(_ lines: [[UInt8]], _ first: Int) -> Run {
      Run { [work] in try await work(lines, first) }
    }

    /// Adds lines, and waits while too many wait already; throws `CancellationError` after ``cancel()``.
    func append(_ lines: [[UInt8]]) async throws {
      guard !lines.isEmpty else { return }
      var new = lines
      while true {
        let (mayReadOn, woken) = try state.withLock { try $0.append(new, begin) }
        new = []
        for waiter in woken { waiter.resume() }
        if mayReadOn { return }
        await withCheckedContinuation { continuation in
          if !state.withLock({ $0.wait(reader: continuation) }) { continuation.resume() }
        }
      }
    }

    /// The next run; `nil` after the last one. The error that ended the input comes after the runs before it.
    func next() async throws -> Run? {
      while true {
        let (run, isOver, woken) = try state.withLock { try $0.next(begin) }
        for waiter in woken { waiter.resume() }
        if run != nil || isOver { return run }
        await withCheckedContinuation { continuation in
          if !state.withLock({ $0.wait(writer: continuation) }) { continuation.resume() }
        }
      }
    }

    func finish(_ failure: (any Error)?) {
      for waiter in state.withLock({ $0.finish(failure) }) { waiter.resume() }
    }

    /// Closes the queue, and cancels the runs under way.
    func cancel() {
      let (runs, woken) = state.withLock { $0.cancel() }
      for run in runs { run.cancel() }
      for waiter in woken { waiter.resume() }
    }
  }

  /// The lines of a batch that wait, and the runs of lines that are being verified, both in order and bounded.
  ///
  /// Lines are verified together only while other work is under way: no line waits for lines that have not arrived.
  ///
  /// It begins no task and suspends nobody itself: `Run` is what begins for lines, and `Waiter` what is resumed.
  struct BatchRuns<Run, Waiter> {
    /// Begins a run of lines at an index in the batch.
    typealias Begin = (_ lines: [[UInt8]], _ first: Int) -> Run

    static var linesInRun: Int { 64 }

    private let limit: Int
    private var lines: [[UInt8]] = []
    /// The index of the first of these lines in the batch.
    private var index = 0
    private var runs: [Run] = []
    private var isFinished = false
    private var failure: (any Error)?
    private var isCancelled = false
    private var reader: Waiter?
    private var writer: Waiter?

    init(limit: Int) { self.limit = limit }

    /// Removes and returns the waiters, which look again when they are resumed.
    private mutating func wake() -> [Waiter] {
      defer { (reader, writer) = (nil, nil) }
      return [reader, writer].compactMap(\.self)
    }

    private mutating func beginRun(_ begin: Begin) {
      let run = Array(lines.prefix(Self.linesInRun))
      lines.removeFirst(run.count)
      runs.append(begin(run, index))
      index += run.count
    }

    // MARK: Input

    /// Adds lines, and begins runs of them as soon as places are free.
    ///
    /// - Returns: `true` if the reader of the input may read on; otherwise it has to wait. And the waiters to resume.
    /// - Throws: `CancellationError` after ``cancel()``.
    mutating func append(_ new: [[UInt8]], _ begin: Begin) throws -> (mayReadOn: Bool, woken: [Waiter]) {
      if isCancelled { throw CancellationError() }
      lines += new
      while lines.count >= Self.linesInRun, runs.count < limit { beginRun(begin) }
      return (lines.count < Self.linesInRun, wake())
    }

    /// Lets the reader of the input wait for a place; `false` if one is free.
    mutating func wait(reader: Waiter) -> Bool {
      guard runs.count >= limit, !isCancelled else { return false }
      self.reader = reader
      return true
    }

    /// Ends the input, with an error if reading failed, and returns the waiters to resume.
    mutating func finish(_ failure: (any Error)?) -> [Waiter] {
      isFinished = true
      self.failure = failure
      return wake()
    }

    // MARK: Output

    /// The next run; `nil` if no line waits, now or any more.
    ///
    /// - Returns: The run, `true` after the last one, and the waiters to resume.
    /// - Throws: The error that ended the input, after the runs before it.
    mutating func next(_ begin: Begin) throws -> (run: Run?, isOver: Bool, woken: [Waiter]) {
      if runs.isEmpty, !lines.isEmpty { beginRun(begin) }
      if runs.isEmpty {
        if let failure { throw failure }
        return (nil, isFinished, [])
      }
      return (runs.removeFirst(), false, wake())
    }

    /// Lets the writer of the output wait for a run; `false` if there is one, or if all is over.
    mutating func wait(writer: Waiter) -> Bool {
      guard runs.isEmpty, lines.isEmpty, !isFinished else { return false }
      self.writer = writer
      return true
    }

    /// Ends the batch, and returns the runs to cancel and the waiters to resume.
    mutating func cancel() -> (runs: [Run], woken: [Waiter]) {
      isCancelled = true
      defer { runs = [] }
      return (runs, wake())
    }
  }

  extension BatchRuns: Sendable where Run: Sendable, Waiter: Sendable {}
#endif
