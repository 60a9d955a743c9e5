// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// The plan of an append transaction: the records that repeat existing entries, and the new entries with their
/// predecessors.
struct AppendPlan {
  /// The entries to append, in order; the first becomes entry `start`.
  private(set) var steps: [Step] = []
  private(set) var acknowledgements: [AuditAcknowledgement] = []

  let start: UInt64
  private let once: TrailConfiguration.OnceWindow
  /// The receipts and original transactions of the steps.
  private var planned: MemtableRecords

  init(
    _ records: [PreparedRecord], _ found: [EarlierEntries], after head: TrailHead,
    once: TrailConfiguration.OnceWindow
  ) throws {
    start = head.size
    self.once = once
    planned = MemtableRecords(base: start, expecting: [.receipt: records.count, .original: records.count])
    steps.reserveCapacity(records.count)
    acknowledgements.reserveCapacity(records.count)
    var lastTime = head.lastTime
    for number in records.indices {
      // Entries of this transaction are newer than those that were found.
      if let first = repeated(number, of: records) ?? found[number].first {
        acknowledgements.append(AuditAcknowledgement(index: first, isRepeat: true))
        continue
      }
      let position = start + UInt64(steps.count)
      guard position < TrailLimits.entries else {
        throw AuditError(.invalidRecord, at: "entry \(position)", "The trail is full; begin another.")
      }
      var previous = found[number].previous
      let fingerprints = records[number].fingerprints
      if let original = fingerprints.original {
        previous = planned.newest(.original, original, check: fingerprints.originalCheck) ?? previous
        planned.insert(.original, original, position, check: fingerprints.originalCheck)
      }
      if let receipt = fingerprints.receipt { planned.insert(.receipt, receipt, position) }
      lastTime = max(records[number].record.facts.time, lastTime)
      steps.append(Step(number: number, time: lastTime, previous: previous))
      acknowledgements.append(AuditAcknowledgement(index: position, isRepeat: false))
    }
  }

  private func repeated(_ number: Int, of records: [PreparedRecord]) -> UInt64? {
    guard let receipt = records[number].fingerprints.receipt else { return nil }
    let earlier = planned.indices(.receipt, receipt)
    // A record that is never a repeat has no key. Neither have entries with its fingerprint, and two missing keys are
    // not equal.
    guard !earlier.isEmpty, let wanted = ExactlyOnce.key(records[number].record.facts) else { return nil }
    for index in earlier {
      let step = steps[Int(index - start)]
      guard once.covers(step.time, at: records[number].record.facts.time) else { return nil }
      if ExactlyOnce.key(records[step.number].record.facts) == wanted { return index }
    }
    return nil
  }

  /// The ranges of steps that go into the same bundle.
  var bundles: [Range<Int>] {
    var ranges: [Range<Int>] = []
    var first = 0
    while first < steps.count {
      let room = BundleRow.entryCount - Int((start + UInt64(first)) % UInt64(BundleRow.entryCount))
      ranges.append(first..<min(first + room, steps.count))
      first += room
    }
    return ranges
  }
}
