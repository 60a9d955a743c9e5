// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Testing

@Suite struct OnceWindowTests {
  @Test("exactly the window apart is a repeat, a millisecond more is not, in one batch and in several")
  func onceWindow() async throws {
    let times: [Int64] = [0, 9_999, 10_000, 10_001, 20_000, 20_001, 20_002]
    let expected: [UInt64] = [0, 0, 0, 1, 1, 1, 2]
    let records = times.map { offset in
      var record = TrailFixture.record(1, time: 1_760_000_000_000 + offset)
      record.receiptBytes = nil
      return record
    }
    for size in [1, 2, 3, records.count] {
      let log = try TrailFixture().create(once: .seconds(10))
      var indexes: [UInt64] = []
      for start in stride(from: 0, to: records.count, by: size) {
        indexes += try await log.append(Array(records[start..<min(start + size, records.count)])).map(\.index)
      }
      #expect(indexes == expected, "batches of \(size)")
    }
  }
}
