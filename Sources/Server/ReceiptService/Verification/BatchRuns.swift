// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The lines of a batch that wait, and the runs of lines that are being verified, both in order and bounded.
  ///
  /// Lines are verified together only while other work is under way: no line waits for lines that have not arrived.
  ///
  /// It begins no task and suspends nobody itself: `Run` is what begins for lines, and `Waiter` what is resumed.
  struct BatchRuns<Run, Waiter> {
    /// Begins a run of lines, the first of which has an index in the batch.
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
