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

  /// A bounded queue of lines to verify, and of the runs of lines that are being verified, both in order.
  ///
  /// Lines are verified together only while other work is under way: no line waits for lines that have not arrived.
  private final class RunQueue: Sendable {
    typealias Run = Task<[UInt8], any Error>
    typealias Work = @Sendable (_ lines: [[UInt8]], _ first: Int) async throws -> [UInt8]

    private struct State {
      var lines: [[UInt8]] = []
      /// The index of the first of these lines in the batch.
      var index = 0
      var runs: [Run] = []
      var isFinished = false
      var failure: (any Error)?
      var isCancelled = false
      var reader: CheckedContinuation<Void, Never>?
      var writer: CheckedContinuation<Void, Never>?

      /// Removes and returns the waiters, which check the state again when they are resumed.
      mutating func wake() -> [CheckedContinuation<Void, Never>] {
        defer { (reader, writer) = (nil, nil) }
        return [reader, writer].compactMap(\.self)
      }

      mutating func begin(_ count: Int, _ work: @escaping Work) {
        let (run, first) = (Array(lines.prefix(count)), index)
        lines.removeFirst(run.count)
        index += run.count
        runs.append(Run { try await work(run, first) })
      }
    }

    private static let linesInRun = 64
    private let limit: Int
    private let work: Work
    private let state = Mutex(State())

    init(limit: Int, _ work: @escaping Work) {
      self.limit = limit
      self.work = work
    }

    /// Adds lines, and starts runs of them as soon as places are free.
    ///
    /// - Throws: `CancellationError` after ``cancel()``.
    func append(_ lines: [[UInt8]]) async throws {
      guard !lines.isEmpty else { return }
      var isTaken = false
      while true {
        let (isDone, waiters) = try state.withLock { state in
          if state.isCancelled { throw CancellationError() }
          if !isTaken { state.lines += lines }
          isTaken = true
          while state.lines.count >= Self.linesInRun, state.runs.count < limit {
            state.begin(Self.linesInRun, work)
          }
          return (state.lines.count < Self.linesInRun, state.wake())
        }
        for waiter in waiters { waiter.resume() }
        if isDone { return }
        await withCheckedContinuation { continuation in
          let isStale = state.withLock { state in
            guard state.runs.count >= limit, !state.isCancelled else { return true }
            state.reader = continuation
            return false
          }
          if isStale { continuation.resume() }
        }
      }
    }

    /// The next run; `nil` after the last one.
    ///
    /// - Throws: The error that ended the input, after the runs before it.
    func next() async throws -> Run? {
      while true {
        let (run, isOver, waiters) = try state.withLock { state in
          if state.runs.isEmpty, !state.lines.isEmpty { state.begin(Self.linesInRun, work) }
          if state.runs.isEmpty {
            if let failure = state.failure { throw failure }
            return (Run?.none, state.isFinished, [CheckedContinuation<Void, Never>]())
          }
          return (state.runs.removeFirst(), false, state.wake())
        }
        for waiter in waiters { waiter.resume() }
        if run != nil || isOver { return run }
        await withCheckedContinuation { continuation in
          let isStale = state.withLock { state in
            guard state.runs.isEmpty, state.lines.isEmpty, !state.isFinished else { return true }
            state.writer = continuation
            return false
          }
          if isStale { continuation.resume() }
        }
      }
    }

    /// Ends the input, with an error if reading failed.
    func finish(_ failure: (any Error)?) {
      let waiters = state.withLock { state in
        state.isFinished = true
        state.failure = failure
        return state.wake()
      }
      for waiter in waiters { waiter.resume() }
    }

    /// Closes the queue, and cancels the runs under way.
    func cancel() {
      let (runs, waiters) = state.withLock { state in
        state.isCancelled = true
        defer { state.runs = [] }
        return (state.runs, state.wake())
      }
      for run in runs { run.cancel() }
      for waiter in waiters { waiter.resume() }
    }
  }
#endif
