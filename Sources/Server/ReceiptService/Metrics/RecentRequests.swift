// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// The number and the durations of the requests of the last ten minutes of this process, for each second.
  final class RecentRequests: Sendable {
    struct Period: Sendable {
      fileprivate(set) var count = 0
      /// The number of requests that were answered with a status of 500 or more.
      fileprivate(set) var faultCount = 0
      /// The number of requests in each bucket of the duration histogram.
      fileprivate var buckets = [UInt32](repeating: 0, count: RecentRequests.bucketCount)

      /// The time, in microseconds, within which a share of the requests was answered; `nil` if there were no requests.
      ///
      /// The result is the upper bound of a histogram bucket. From 4 µs to 16 s it is at most a quarter too high.
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
    /// The number of buckets: four for each power of two of microseconds, up to 16 seconds.
    fileprivate static let bucketCount = 96

    private struct Slot {
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

    /// The last ten minutes in periods of `length` seconds, oldest first; the last is not over yet.
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
