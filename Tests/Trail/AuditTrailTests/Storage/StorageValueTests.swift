// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Testing

@Suite("Every storage: values")
struct StorageValueTests {
  @Test("gives back what was put, of every size, in every table, under every key", arguments: StorageKind.all)
  func roundTrip(kind: StorageKind) throws {
    let fixture = try kind.make()
    for table in StorageTable.allCases {
      let ends = [table.keys.lowerBound, table.keys.upperBound]
      let keys = Set([-1, 0, 1, 255, 1 << 48 | 7] + ends).filter(table.keys.contains).sorted()
      try fixture.storage.write { (writer) throws in
        for key in keys { try writer.put(table, key, sampleBytes(100, seed: UInt64(bitPattern: key))) }
      }
      #expect(try fixture.storage.keys(table) == keys)
      for key in keys {
        #expect(try fixture.storage.stored(table, key) == sampleBytes(100, seed: UInt64(bitPattern: key)))
      }
    }
    for size in [0, 1, 4063, 4064, 4065, 4096, 8128, 16_349, 16_384, 65_536, 300_000, 2_000_000] {
      try fixture.storage.put(.bundles, 1, sampleBytes(size))
      #expect(try fixture.storage.stored(.bundles, 1) == sampleBytes(size))
    }
    #expect(try fixture.storage.stored(.bundles, 2) == nil)
  }

  @Test("puts over what was there, longer or shorter or empty", arguments: StorageKind.all)
  func putOver(kind: StorageKind) throws {
    let fixture = try kind.make()
    for size in [10, 200_000, 3, 0, 50_000, 50_000] {
      let value = sampleBytes(size, seed: UInt64(size))
      try fixture.storage.write { (writer) throws in
        try writer.put(.head, 0, value)
        #expect(try writer.value(.head, 0) == value)
      }
      #expect(try fixture.storage.stored(.head, 0) == value)
    }
    #expect(try fixture.storage.keys(.head) == [0])
  }

  @Test("reads parts, as far as the value has them", arguments: StorageKind.all)
  func parts(kind: StorageKind) throws {
    let fixture = try kind.make()
    let value = sampleBytes(200_000)
    try fixture.storage.write { (writer) throws in
      try writer.put(.bundles, 3, value)
      try writer.put(.bundles, 4, [])
    }
    let ranges = [
      0..<1, 0..<8192, 100..<100, 16_000..<17_000, 199_999..<200_000, 199_000..<250_000, 0..<200_000,
      0..<Int.max, 4063..<4064, 4064..<4065, 4063..<8129, 8128..<12_192,
      200_000..<200_001, 300_000..<400_000, (Int.max - 1)..<Int.max, 65_536..<131_072,
    ]
    try fixture.storage.read { (reader) throws in
      for range in ranges {
        #expect(
          try reader.value(.bundles, 3, bytes: range) == Array(value[range.clamped(to: 0..<value.count)]))
        #expect(try reader.value(.bundles, 4, bytes: range) == [])
        #expect(try reader.value(.bundles, 5, bytes: range) == nil)
      }
    }
    try fixture.storage.write { (writer) throws in
      #expect(try writer.value(.bundles, 3, bytes: 10..<20) == Array(value[10..<20]))
    }
  }

  @Test("visits the keys of a range in order until told to stop", arguments: StorageKind.all)
  func ranges(kind: StorageKind) throws {
    let fixture = try kind.make()
    try fixture.storage.write { (writer) throws in
      for key in [40, 10, 30, 20, -5] { try writer.put(.tail, Int64(key), [UInt8(truncatingIfNeeded: key)]) }
    }
    let storage = fixture.storage
    #expect(try storage.keys(.tail) == [-5, 10, 20, 30, 40])
    #expect(try storage.keys(.tail, in: 10...30) == [10, 20, 30])
    #expect(try storage.keys(.tail, in: 11...29) == [20])
    #expect(try storage.keys(.tail, in: 20...20) == [20])
    #expect(try storage.keys(.tail, in: 41...Int64.max) == [])
    #expect(try storage.keys(.payloads) == [])
    try storage.read { (reader) throws in
      var seen: [Int64] = []
      try reader.forEach(.tail, in: 0...100) { key, value in
        #expect(value == [UInt8(truncatingIfNeeded: key)])
        seen.append(key)
        return seen.count < 2
      }
      #expect(seen == [10, 20])
      #expect(throws: Refusal()) { try reader.forEach(.tail, in: 0...100) { _, _ in throw Refusal() } }
      #expect(try reader.lastKey(.tail, in: .min ... .max) == 40)
      #expect(try reader.lastKey(.tail, in: 11...29) == 20)
      #expect(try reader.lastKey(.tail, in: -4...9) == nil)
      #expect(try reader.lastKey(.pages, in: .min ... .max) == nil)
    }
  }

  @Test("lends rows while the same table is read for each of them", arguments: StorageKind.all)
  func nestedReading(kind: StorageKind) throws {
    let fixture = try kind.make()
    try fixture.storage.write { writer in for key in 0..<5 { try writer.put(.runs, Int64(key), [UInt8(key)]) }
    }
    let pairs = try fixture.storage.read { (reader) throws in
      var pairs = 0
      try reader.forEach(.runs, in: 0...9) { (outer, _) throws in
        try reader.forEach(.runs, in: outer...9) { (inner, value) throws in
          #expect(try reader.value(.runs, inner) == value)
          pairs += 1
          return true
        }
        return true
      }
      return pairs
    }
    #expect(pairs == 15)
  }

  @Test("overwrites within a value, and nowhere else", arguments: StorageKind.all)
  func overwriting(kind: StorageKind) throws {
    let fixture = try kind.make()
    var value = sampleBytes(100_000)
    try fixture.storage.put(.bundles, 0, value)
    try fixture.storage.put(.bundles, 1, value)
    try fixture.storage.write { (writer) throws in
      for (offset, count) in [(0, 1), (16_000, 30_000), (99_990, 10), (100_000, 0), (50, 0)] {
        let bytes = [UInt8](repeating: 0, count: count)
        try writer.overwrite(.bundles, 0, at: offset, with: bytes)
        value.replaceSubrange(offset..<offset + count, with: bytes)
        #expect(try writer.value(.bundles, 0) == value)
      }
    }
    #expect(try fixture.storage.stored(.bundles, 0) == value)
    #expect(try fixture.storage.stored(.bundles, 1) == sampleBytes(100_000))
  }

  @Test("overwrites nothing beyond the end of a value", arguments: StorageKind.all)
  func overwritingBeyond(kind: StorageKind) throws {
    let fixture = try kind.make()
    try fixture.storage.put(.bundles, 0, [1, 2, 3])
    for (key, offset, count) in [
      (0, 0, 4), (0, 3, 1), (0, 4, 0), (0, -1, 1), (0, .max, 1), (0, .min, 1), (7, 0, 1), (7, 0, 0),
    ] as [(Int64, Int, Int)] {
      let code = storageCode {
        try fixture.storage.write {
          try $0.overwrite(.bundles, key, at: offset, with: [UInt8](repeating: 9, count: count))
        }
      }
      #expect(code == .corrupt, "key \(key), offset \(offset), \(count) bytes")
    }
    #expect(try fixture.storage.stored(.bundles, 0) == [1, 2, 3])
  }

  @Test("removes a range, and takes new values there", arguments: StorageKind.all, [false, true])
  func removing(kind: StorageKind, erasing: Bool) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.write { (writer) throws in
      for key in 0..<20 { try writer.put(.payloads, Int64(key), sampleBytes(9000, seed: UInt64(key))) }
    }
    try storage.write { (writer) throws in
      try writer.remove(.payloads, in: 5...14, erasing: erasing)
      #expect(try writer.value(.payloads, 5) == nil)
      #expect(try writer.value(.payloads, 5, bytes: 0..<1) == nil)
      try writer.remove(.payloads, in: 100...200, erasing: erasing)
    }
    #expect(try storage.keys(.payloads) == Array(0..<5) + Array(15..<20))
    #expect(try storage.read { try $0.lastKey(.payloads, in: 0...14) } == 4)
    #expect(
      storageCode { try storage.write { try $0.overwrite(.payloads, 7, at: 0, with: [1]) } } == .corrupt)
    try storage.put(.payloads, 7, [7])
    #expect(try storage.stored(.payloads, 7) == [7])
    #expect(try storage.stored(.payloads, 4) == sampleBytes(9000, seed: 4))
    try storage.write { try $0.remove(.payloads, in: .min ... .max, erasing: erasing) }
    #expect(try storage.keys(.payloads) == [])
    try storage.put(.payloads, 0, [1])
    #expect(try storage.keys(.payloads) == [0])
  }
}
