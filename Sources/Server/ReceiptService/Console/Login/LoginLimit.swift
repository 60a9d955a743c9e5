// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// A limit on the number of wrong keys at the console's login that are answered with a page and logged.
  ///
  /// There is a limit for each address and one for all addresses together, so that using many addresses gains nothing.
  /// Keys have 256 random bits and cannot be guessed: the limit only bounds the work.
  final class LoginLimit: Sendable {
    static let triesOfAddress = 5
    static let triesOfAll = 60
    private static let window: Duration = .seconds(60)

    private struct Try {
      let address: String
      let time: ContinuousClock.Instant
    }

    /// The tries within the time window, oldest first; at most ``triesOfAll``.
    private let tries = Mutex<[Try]>([])

    /// Counts a wrong key.
    ///
    /// - Returns: `nil` if the try was counted; otherwise the number of seconds after which to try again.
    func countWrongKey(from address: String, at now: ContinuousClock.Instant = .now) -> Int? {
      tries.withLock { tries in
        tries.removeAll { now - $0.time >= Self.window }
        let own = tries.filter { $0.address == address }
        let last =
          own.count >= Self.triesOfAddress
          ? own[own.count - Self.triesOfAddress] : tries.count >= Self.triesOfAll ? tries.first : nil
        guard let last else {
          tries.append(Try(address: address, time: now))
          return nil
        }
        return Int((Self.window - (now - last.time)).components.seconds) + 1
      }
    }
  }
#endif
