// SPDX-License-Identifier: Apache-2.0

#if Server
  import Dispatch
  import Foundation
  import Logging
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptVerification
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A bounded buffer of log lines that are to be written to a descriptor.
  ///
  /// Logging never waits for the reader of the log, and never fails: one dedicated thread writes the buffered lines.
  /// Lines that do not fit into the buffer, or that cannot be written, are counted. The next line that can be written
  /// reports their number.
  final class LogOutput: Sendable {
    static let standardError = LogOutput(descriptor: STDERR_FILENO)

    static let maximumByteCount = 1 << 20
    /// The length at which a line is cut off, so that one line cannot fill the buffer.
    static let maximumLineByteCount = 64 << 10

    private struct State {
      var pending: [UInt8] = []
      var droppedCount = 0
      /// `true` if the thread waits to be woken.
      var isIdle = true
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    /// Formats the line that reports the number of dropped lines.
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

    func describeDropped(by line: @escaping @Sendable (Int) -> [UInt8]) {
      droppedLine.withLock { $0 = line }
    }

    /// Buffers a line, which is given without its line feed.
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

    /// Waits until all lines are written, at most for the time limit.
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
          // The number is kept until another line arrives; only then is it reported.
          if dropped > 0 { state.withLock { $0.droppedCount += dropped } }
          return
        }
        // Lines were dropped because the buffer was full, so the report belongs after the buffered lines.
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
    /// - Returns: The number of lines that could not be written, for example on a full disk or to a pipe without a
    ///   reader.
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
          // Another process may have made the descriptor non-blocking: the flag belongs to the open file that both
          // share.
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&waiting, 1, 1000)
        } else if errno != EINTR {
          return rest.count { $0 == 0x0A }
        }
      }
      return 0
    }
  }

  /// Logs one line for each event: a JSON object or text.
  ///
  /// In text, untrusted values can neither end the line nor control a terminal.
  struct ServerLogHandler: LogHandler {
    let label: String
    let writesJSON: Bool
    let output: LogOutput
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider? = LoggingSystem.metadataProvider

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      var fields = metadata
      if let provided = metadataProvider?.get() { fields.merge(provided) { own, _ in own } }
      if let own = event.metadata { fields.merge(own) { _, own in own } }
      output.append(
        Self.line(
          event.level, event.message.description,
          fields.map { ($0, $1.description) }.sorted { $0.0 < $1.0 }, label: label, writesJSON: writesJSON))
    }

    /// Formats a line, without its line feed.
    static func line(
      _ level: Logger.Level, _ message: String, _ fields: [(name: String, value: String)], label: String,
      writesJSON: Bool
    ) -> [UInt8] {
      let now = SystemClock.now()
      guard writesJSON else {
        var text = "\(now.iso8601) \(level) \(label):"
        for (name, value) in fields { text += " \(ShownText.plain(name))=\(ShownText.plain(value))" }
        return Array((text + " \(ShownText.plain(message))").utf8)
      }
      var object = JSONWriter()
      object.beginObject()
      object.member("time", now)
      object.member("level", level.rawValue)
      object.member("message", message)
      for (name, value) in fields { object.member(name, value) }
      object.endObject()
      return object.bytes
    }
  }
#endif
