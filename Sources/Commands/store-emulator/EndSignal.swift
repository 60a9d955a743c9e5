// SPDX-License-Identifier: Apache-2.0

#if Server
  import Dispatch

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The writing end of a pipe, which signal handlers write to; they may do little else (signal-safety(7)).
  private nonisolated(unsafe) var signalOutput: Int32 = -1

  /// The event that ends the process: SIGTERM, SIGINT, the end of standard input, or a request to shut down.
  final class EndSignal: Sendable {
    private let (events, source) = AsyncStream.makeStream(of: Void.self)

    /// Starts to catch signals and the end of the input.
    ///
    /// Events before ``wait()`` are not lost.
    init(endsWithInput: Bool) {
      catchSignals()
      if endsWithInput { fireAtEnd(of: 0) }
    }

    /// Ends the process.
    func fire() { source.yield() }

    /// Waits for the end.
    func wait() async {
      for await _ in events { return }
    }

    /// Catches signals with handlers that write to a pipe.
    ///
    /// A dispatch source is registered some time after it is resumed, and a signal in between would be lost.
    private func catchSignals() {
      var ends: [Int32] = [-1, -1]
      // If the pipe cannot be created, signals end the process as they do by default.
      guard unsafe pipe(&ends) == 0 else { return }
      unsafe signalOutput = ends[1]
      for number in [SIGTERM, SIGINT] {
        _ = signal(number) { _ in
          let interrupted = errno
          var byte: UInt8 = 0
          _ = unsafe write(signalOutput, &byte, 1)
          errno = interrupted
        }
      }
      let input = ends[0]
      onThread("signals") {
        _ = Self.readByte(input)
        self.fire()
      }
    }

    private func fireAtEnd(of input: Int32) {
      onThread("standard-input") {
        while Self.readByte(input) {}
        self.fire()
      }
    }

    /// Runs work on a thread of its own, because reading blocks.
    private func onThread(_ label: String, _ body: @escaping @Sendable () -> Void) {
      DispatchQueue(label: label).async(execute: body)
    }

    /// - Returns: `false` at the end of the input.
    private static func readByte(_ input: Int32) -> Bool {
      var byte: UInt8 = 0
      var count: Int
      repeat { count = unsafe read(input, &byte, 1) } while count < 0 && errno == EINTR
      return count > 0
    }
  }
#endif
