// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import Dispatch
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// What ends the process: SIGTERM, SIGINT, the end of standard input, or a request.
  final class EndSignal: Sendable {
    private let (events, source) = AsyncStream.makeStream(of: Void.self)
    private let endsWithInput: Bool

    /// Creates one; it may leave standard input alone.
    init(endsWithInput: Bool) { self.endsWithInput = endsWithInput }

    /// Ends the process.
    func fire() { source.yield() }

    private func watchInput() {
      // A thread of its own, for reading blocks.
      DispatchQueue(label: "standard-input").async {
        var byte: UInt8 = 0
        var count: Int
        repeat { count = unsafe read(0, &byte, 1) } while count > 0 || (count < 0 && errno == EINTR)
        self.fire()
      }
    }

    /// Waits for the end.
    func wait() async {
      let sources = [SIGTERM, SIGINT].map { number in
        signal(number, SIG_IGN)
        let signals = DispatchSource.makeSignalSource(signal: number, queue: .global())
        signals.setEventHandler { self.fire() }
        signals.resume()
        return signals
      }
      defer { for source in sources { source.cancel() } }
      if endsWithInput { watchInput() }
      for await _ in events { return }
    }
  }
#endif
