// SPDX-License-Identifier: Apache-2.0

#if Server
  import Dispatch
  import Foundation
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// The lines of the log on their way to a descriptor. Logging never waits for the reader of the log, and never fails: lines
  /// stand in a bounded buffer, which one thread of its own writes. Lines that find no room, or that cannot be written, are
  /// counted, and the next line that can be written says how many they were.
  final class LogOutput: Sendable {
    /// Standard error.
    static let standardError = LogOutput(descriptor: STDERR_FILENO)

    /// The number of bytes may wait for a reader.
    static let maximumByteCount = 1 << 20
    /// Longer lines are cut off, so that one cannot take all of the buffer.
    static let maximumLineByteCount = 64 << 10

    private struct State {
      var pending: [UInt8] = []
      var droppedCount = 0
      /// Indicates whether the thread waits to be woken.
      var isIdle = true
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    /// Writes the line that says how many lines are missing.
    private let droppedLine = Mutex<@Sendable (Int) -> [UInt8]>({
      Array("\($0) lines of the log were dropped.".utf8)
    })

    init(descriptor: Int32) {
      self.descriptor = descriptor
      Thread.detachNewThread { [self] in
        while true {
          wake.wait()
          drain()
        }
      }
    }

    /// Takes the line that says how many lines are missing, in the form of the log.
    func describeDropped(by line: @escaping @Sendable (Int) -> [UInt8]) {
      droppedLine.withLock { $0 = line }
    }

    /// Takes a line, without its end.
    func append(_ line: [UInt8]) {
      let line = line.prefix(Self.maximumLineByteCount)
      let wakes = state.withLock { state in
        guard state.pending.count + line.count < Self.maximumByteCount else {
          state.droppedCount += 1
          return false
        }
        state.pending += line
        state.pending.append(0x0A)
        defer { state.isIdle = false }
        return state.isIdle
      }
      if wakes { wake.signal() }
    }

    /// Waits until all lines are written, but no longer than the deadline.
    func flush(within limit: Duration) {
      let deadline = ContinuousClock.now + limit
      while !state.withLock({ $0.isIdle }), .now < deadline { Thread.sleep(forTimeInterval: 0.005) }
    }

    private func drain() {
      while true {
        let (bytes, dropped) = state.withLock { state in
          defer { (state.pending, state.droppedCount) = ([], 0) }
          state.isIdle = state.pending.isEmpty
          return (state.pending, state.droppedCount)
        }
        guard !bytes.isEmpty else {
          // Without a line behind them nothing says that lines are missing.
          if dropped > 0 { state.withLock { $0.droppedCount += dropped } }
          return
        }
        // The dropped lines came when the buffer was full, so after those in it.
        var lost = write(bytes[...])
        if dropped > 0 {
          let line = droppedLine.withLock { $0 }(dropped)
          if write((line + [0x0A])[...]) > 0 { lost += dropped }
        }
        if lost > 0 { state.withLock { $0.droppedCount += lost } }
      }
    }

    /// Writes lines.
    ///
    /// - Returns: How many could not be written, as on a full disk or to a pipe without a reader.
    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
      var rest = bytes
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { buffer in
          #if canImport(Glibc)
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
          #else
            unsafe Musl.write(descriptor, buffer.baseAddress, buffer.count)
          #endif
        }
        if count >= 0 {
          rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          // Another process may have made the descriptor non-blocking, which is a property of the open file.
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&waiting, 1, 1000)
        } else if errno != EINTR {
          return rest.count { $0 == 0x0A }
        }
      }
      return 0
    }
  }
#endif
