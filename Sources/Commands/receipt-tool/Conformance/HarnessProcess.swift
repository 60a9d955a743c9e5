// SPDX-License-Identifier: Apache-2.0

import CChildProcess
import ConformanceSuite
import Glibc
import ReceiptBytes
import Synchronization

/// The process of a harness: its standard input and output, and the end of what it writes to standard error.
final class HarnessProcess {
  /// What a harness wrote, or why it wrote nothing.
  enum Answer {
    /// A line, without its line feed.
    case line([UInt8])
    /// It closed its output, or ended.
    case end
    case deadline
  }

  private let identifier: pid_t
  private var input: Int32
  private let output: Int32
  private let errors: Int32
  private var unsent: ArraySlice<UInt8> = []
  private var unread: [UInt8] = []
  /// The number of bytes of ``unread`` that have no line feed.
  private var scanned = 0
  private var isReaped = false

  private static let maximumLineByteCount = 1 << 24
  private static let shownErrorByteCount = 600
  /// The time that a harness has to start.
  private static let startLimit = Duration.seconds(60)

  /// The process group of the running harness, which ends with this process.
  private static let running = Atomic<pid_t>(0)

  /// Kills the running harness, for the handler of a signal that ends this process.
  static func killRunning() {
    let group = running.load(ordering: .relaxed)
    if group > 0 { kill(-group, SIGKILL) }
  }

  /// Starts a command in a session of its own. `memoryLimit` is the maximum size of its address space, in bytes.
  ///
  /// - Throws: ``SystemError`` if it cannot be started.
  init(_ command: [String], memoryLimit: UInt64?) throws(SystemError) {
    let arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var child = CChildProcess()
    let failure = unsafe CChildProcess_start(arguments, memoryLimit ?? 0, &child)
    guard failure == 0 else { throw SystemError(number: failure) }
    identifier = child.identifier
    input = child.input
    output = child.output
    errors = child.errors
    Self.running.store(identifier, ordering: .relaxed)
  }

  deinit {
    if !isReaped { _ = end(isEnding: false) }
    if input >= 0 { close(input) }
    close(output)
    close(errors)
  }

  /// The number of bytes that the harness has not read yet.
  var unsentByteCount: Int { unsent.count }

  /// Appends lines to what is written to the harness while its answers are awaited.
  func send(_ lines: [UInt8]) {
    if unsent.isEmpty { unsent = lines[...] } else { unsent += lines }
  }

  /// Reads the first line of the harness.
  ///
  /// - Throws: ``HarnessFault`` if it is no declaration.
  func declaration(timeLimit: Duration) throws(HarnessFault) -> HarnessDeclaration {
    switch try line(until: .now + max(Self.startLimit, timeLimit)) {
    case .line(let line): return try HarnessDeclaration(line: line)
    case .end: throw HarnessFault("it made no declaration: \(end(isEnding: true))")
    case .deadline: throw HarnessFault("it made no declaration: \(end(isEnding: false))")
    }
  }

  /// Writes what is to be sent, and reads until the next line is complete.
  ///
  /// - Throws: ``HarnessFault`` if a line is too long.
  func line(until deadline: ContinuousClock.Instant) throws(HarnessFault) -> Answer {
    while true {
      if let end = unread[scanned...].firstIndex(of: 0x0A) {
        let line = Array(unread[..<end])
        unread.removeFirst(end + 1)
        scanned = 0
        return .line(line)
      }
      scanned = unread.count
      var waited = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
      if !unsent.isEmpty { waited.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
      let left = max(.zero, deadline - .now)
      let milliseconds = Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))
      let count = unsafe poll(&waited, nfds_t(waited.count), milliseconds)
      if count == 0 { return .deadline }
      if count < 0 { continue }
      if waited.count > 1, waited[1].revents != 0 { writeUnsent() }
      guard waited[0].revents != 0 else { continue }
      guard readSome() else { return .end }
      guard unread.count <= Self.maximumLineByteCount else {
        throw HarnessFault("it wrote a line of more than 16 MiB")
      }
    }
  }

  private func writeUnsent() {
    let count = unsafe unsent.prefix(1 << 16).withUnsafeBytes {
      unsafe write(input, $0.baseAddress, $0.count)
    }
    if count > 0 {
      unsent = unsent.dropFirst(count)
    } else if errno == EPIPE {
      // Whether it ends in the midst of a case, its output tells.
      unsent = []
    }
  }

  /// Reads what there is; `false` at the end of the output.
  private func readSome() -> Bool {
    let capacity = 1 << 16
    var count = 0
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
      count = unsafe read(output, buffer.baseAddress, capacity)
      initialized = max(count, 0)
    }
    guard count >= 0 else { return errno == EINTR }
    unread += piece
    return count > 0
  }

  /// Closes its standard input, and returns everything that it writes, or the first `limit` bytes and some more.
  ///
  /// - Throws: ``HarnessFault`` if it does not end with 0.
  func wholeOutput(limit: Int) throws(HarnessFault) -> [UInt8] {
    close(input)
    input = -1
    while unread.count <= limit, readSome() {}
    let ended = end(isEnding: true)
    guard ended.hasPrefix("exit code 0") else { throw HarnessFault(ended) }
    return unread
  }

  /// Closes its standard input, and waits for its end.
  ///
  /// - Throws: ``HarnessFault`` if it does not end with 0, or writes something else.
  func finish(timeLimit: Duration) throws(HarnessFault) {
    close(input)
    input = -1
    let deadline = ContinuousClock.now + timeLimit
    while true {
      switch try line(until: deadline) {
      case .line(let line) where line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }): continue
      case .line: throw HarnessFault("it wrote more than answers")
      case .deadline: throw HarnessFault("at the end of its input it did not end")
      case .end:
        guard unread.isEmpty else { throw HarnessFault("it wrote more than answers") }
        let ended = end(isEnding: true, within: deadline - .now)
        guard ended.hasPrefix("exit code 0") else {
          throw HarnessFault("at the end of its input it ended with \(ended)")
        }
        return
      }
    }
  }

  /// Ends the process.
  ///
  /// - Parameters:
  ///   - isEnding: It closed its output, so that it may be about to end by itself, and its exit code says why.
  ///   - time: How long it may take to end by itself.
  /// - Returns: How it ended, with the end of what it wrote to standard error.
  func end(isEnding: Bool, within time: Duration = .seconds(1)) -> String {
    var status: Int32 = 0
    let deadline = ContinuousClock.now + time
    while isEnding, ContinuousClock.now < deadline {
      isReaped = unsafe waitpid(identifier, &status, WNOHANG) == identifier
      if isReaped { break }
      usleep(5000)
    }
    kill(-identifier, SIGKILL)
    if !isReaped {
      while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
      isReaped = true
    }
    Self.running.store(0, ordering: .relaxed)
    let signal = status & 0x7F
    let how = signal == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(signal)"
    let said = lastErrors()
    return said.isEmpty ? how : "\(how) \(said)"
  }

  private func lastErrors() -> String {
    let end = lseek(errors, 0, SEEK_END)
    _ = lseek(errors, max(0, end - off_t(Self.shownErrorByteCount)), SEEK_SET)
    var piece = [UInt8](repeating: 0, count: Self.shownErrorByteCount)
    let count = unsafe read(errors, &piece, piece.count)
    return String(decoding: piece.prefix(max(0, count)), as: UTF8.self)
  }
}
