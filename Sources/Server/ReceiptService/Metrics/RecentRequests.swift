// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// The requests of the last ten minutes of this process, second by second: how many there were, and how long they
  /// took.
  final class RecentRequests: Sendable {
    /// The requests of some seconds.
    struct Period: Sendable {
      fileprivate(set) var count = 0
      /// Those that were answered with 500 or more.
      fileprivate(set) var faultCount = 0
      /// The number of requests in each bucket of the duration histogram.
      fileprivate var buckets = [UInt32](repeating: 0, count: RecentRequests.bucketCount)

      /// Within how many microseconds a share of the requests was answered, by at most a fifth too many; `nil` without
      /// a request.
      func microseconds(_ share: Double) -> Double? {
        guard count > 0 else { return nil }
        let wanted = UInt32(max(1, (Double(count) * share).rounded(.up)))
        var seen: UInt32 = 0
        for (index, bucket) in buckets.enumerated() {
          seen += bucket
          if seen >= wanted { return RecentRequests.bound(of: index) }
        }
        return nil
      }

      fileprivate mutating func add(_ other: Period) {
        count += other.count
        faultCount += other.faultCount
        for index in buckets.indices { buckets[index] += other.buckets[index] }
      }
    }

    static let seconds = 600
    /// Four for each power of two of microseconds, up to 16 seconds.
    fileprivate static let bucketCount = 96

    private struct Slot {
      /// Since ``origin``.
      var second = -1
      var period = Period()
    }

    private let origin = ContinuousClock.now
    private let slots = Mutex([Slot](repeating: Slot(), count: seconds))

    func record(duration: Duration, isFault: Bool, at now: ContinuousClock.Instant) {
      let second = Int((now - origin).components.seconds)
      let bucket = Self.bucket(duration)
      slots.withLock { slots in
        let index = second % Self.seconds
        if slots[index].second != second { slots[index] = Slot(second: second) }
        slots[index].period.count += 1
        if isFault { slots[index].period.faultCount += 1 }
        slots[index].period.buckets[bucket] += 1
      }
    }

    /// The last ten minutes in periods of some seconds, oldest first; the last one is under way.
    func periods(of length: Int, at now: ContinuousClock.Instant = .now) -> [Period] {
      let last = Int((now - origin).components.seconds) / length
      var periods = [Period](repeating: Period(), count: Self.seconds / length)
      slots.withLock { slots in
        for slot in slots where slot.second >= 0 {
          let age = last - slot.second / length
          if periods.indices.contains(age) { periods[periods.count - 1 - age].add(slot.period) }
        }
      }
      return periods
    }

    private static func bucket(_ duration: Duration) -> Int {
      let (seconds, attoseconds) = duration.components
      let microseconds = max(1, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
      let exponent = 63 - microseconds.leadingZeroBitCount
      let quarter = exponent < 2 ? 0 : Int(microseconds >> (exponent - 2)) & 3
      return min(exponent * 4 + quarter, bucketCount - 1)
    }

    private static func bound(of bucket: Int) -> Double {
      let power = Double(UInt64(1) << UInt64(bucket / 4))
      return power * (1 + Double(bucket % 4 + 1) / 4)
    }
  }
#endif
