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

    /// Ends the process.
    func fire() { source.yield() }

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
      // A thread of its own, for reading blocks.
      DispatchQueue(label: "standard-input").async {
        var byte: UInt8 = 0
        while unsafe read(0, &byte, 1) > 0 {}
        self.fire()
      }
      for await _ in events { return }
    }
  }
#endif
