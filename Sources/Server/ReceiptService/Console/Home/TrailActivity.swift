// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptCodec

  /// The entries that an audit trail took during the last hour and the last day, whichever process recorded them.
  ///
  /// The time of an entry is never before that of the preceding one, so that the beginning of a period is found by binary
  /// search. Only the newest entries are read, so that the cost does not depend on the length of the trail.
  struct TrailActivity: Sendable {
    /// The entries of a period by verdict.
    struct Tally: Sendable, Hashable {
      var valid = 0
      var invalid = 0
      var undetermined = 0
      /// The notifications that a store signed, and whose content was refused.
      var refusedNotifications = 0
      /// `false` if older entries of the period were not read.
      var isComplete = true

      var count: Int { valid + invalid + undetermined }
    }

    /// The maximum number of entries that are read.
    static let maximumCount: UInt64 = 2000

    private(set) var hour = Tally()
    private(set) var day = Tally()
    /// The number of entries, of any app, in each of the last 24 hours, oldest first.
    let hours: [Int]
    /// The maximum number of entries that were read.
    let limit: UInt64

    init(
      in view: TrailView, at now: Timestamp, for audience: (AuditEntry) -> Bool,
      limit: UInt64 = TrailActivity.maximumCount
    ) throws {
      self.limit = limit
      let hourLength: Int64 = 3_600_000
      var starts: [UInt64] = []
      for age in (1...24).reversed() {
        starts.append(
          try Self.firstEntry(
            in: view, since: now.milliseconds - Int64(age) * hourLength, from: starts.last ?? 0))
      }
      // An entry by a clock that is ahead counts for the last hour.
      starts.append(view.size)
      hours = (0..<24).map { Int(starts[$0 + 1] - starts[$0]) }
      let (dayStart, hourStart) = (starts[0], starts[23])
      let end = starts[24]
      let start = max(dayStart, end - min(end, limit))
      day.isComplete = start == dayStart
      hour.isComplete = start <= hourStart
      var next = end
      while next > start {
        let first = max(start, next - min(next, 250))
        try view.prefetch(first..<next)
        for index in (first..<next).reversed() {
          let entry = try view.entry(at: index).entry
          guard audience(entry) else { continue }
          day.add(entry)
          if index >= hourStart { hour.add(entry) }
        }
        next = first
      }
    }

    /// Returns the index of the first entry that is not before a time, at least `low`.
    private static func firstEntry(in view: TrailView, since time: Int64, from low: UInt64) throws -> UInt64 {
      var (low, high) = (low, view.size)
      while low < high {
        let middle = low + (high - low) / 2
        if try view.entry(at: middle).entry.time < time { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  extension TrailActivity.Tally {
    fileprivate mutating func add(_ entry: AuditEntry) {
      switch entry.verdict {
      case .valid?: valid += 1
      case .invalid?:
        invalid += 1
        if entry.notification != nil || entry.format == ReceiptKind.signedNotification.rawValue {
          refusedNotifications += 1
        }
      case _?: undetermined += 1
      case nil: break
      }
    }
  }
#endif
