// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing

  /// The machine's clock, which is wrong now and then.
  @Suite struct SteadyClockTests {
    private typealias F = ServiceFixture

    /// Reads the clock at seconds after the start, when the machine's clock shows others.
    private final class Reader: Sendable {
      private let clock: SteadyClock
      private let shared: Times

      init() {
        let start = ContinuousClock.now
        let times = Times()
        shared = times
        clock = SteadyClock(
          wall: { F.day(0).addingSeconds(times.value.withLock { $0.wall }) },
          steady: { start + .seconds(times.value.withLock { $0.steady }) })
      }

      private final class Times: Sendable { let value = Mutex<(wall: Double, steady: Double)>((0, 0)) }

      func read(wall: Double, at steady: Double) -> Double {
        shared.value.withLock { $0 = (wall, steady) }
        return ((clock.now().millisecondsSince1970 - F.day(0).millisecondsSince1970) / 1000).rounded()
      }
    }

    private static let year = 365 * 86_400.0

    @Test("a year ahead for some seconds, or behind, is not seen")
    func fault() {
      let reader = Reader()
      #expect(reader.read(wall: 10, at: 10) == 10)
      #expect(reader.read(wall: Self.year, at: 11) == 11)
      #expect(reader.read(wall: Self.year + 5, at: 16) == 16)
      #expect(reader.read(wall: 20, at: 20) == 20)
      #expect(reader.read(wall: -Self.year, at: 30) == 30)
      // Each fault begins anew.
      #expect(reader.read(wall: Self.year, at: 89) == 89)
      #expect(reader.read(wall: -Self.year, at: 100) == 100)
      #expect(reader.read(wall: 110, at: 110) == 110)
    }

    @Test("a time that stands for a minute is believed, and a small step at once")
    func steps() {
      let reader = Reader()
      #expect(reader.read(wall: 100, at: 10) == 100)
      #expect(reader.read(wall: 90, at: 20) == 90)
      #expect(reader.read(wall: 5_000, at: 30) == 100)
      #expect(reader.read(wall: 5_059, at: 89) == 159)
      #expect(reader.read(wall: 5_060, at: 90) == 5_060)
      #expect(reader.read(wall: 5_061, at: 91) == 5_061)
    }
  }
#endif
