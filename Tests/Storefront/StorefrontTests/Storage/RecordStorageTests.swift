// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite("Record storages")
struct RecordStorageTests {
  @Test("keeps what was put, by collection and key", arguments: RecordStorageKind.all)
  func keeps(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    #expect(try storage.value(of: "a", in: .first) == nil)
    #expect(try storage.records(in: .first, after: nil, limit: 10) == [])
    try storage.commit([
      .put(.first, key: "a", value: [1]), .put(.second, key: "a", value: [2]),
      .put(.first, key: "", value: []),
      .put(.first, key: "b", value: [UInt8](0...255)),
    ])
    #expect(try storage.value(of: "a", in: .first) == [1])
    #expect(try storage.value(of: "a", in: .second) == [2])
    #expect(try storage.value(of: "", in: .first) == [])
    #expect(try storage.value(of: "b", in: .second) == nil)
    #expect(
      try storage.records(in: .first, after: nil, limit: 10) == [
        StoredRecord(key: "", value: []), StoredRecord(key: "a", value: [1]),
        StoredRecord(key: "b", value: [UInt8](0...255)),
      ])
  }

  @Test("replaces and removes, in the order of the changes", arguments: RecordStorageKind.all)
  func replaces(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.commit([])
    try storage.put("a", [1])
    try storage.put("a", [2, 3])
    #expect(try storage.value(of: "a", in: .first) == [2, 3])
    try storage.commit([.put(.first, key: "b", value: [4]), .remove(.first, key: "b")])
    #expect(try storage.keys() == ["a"])
    try storage.commit([.remove(.first, key: "a"), .put(.first, key: "a", value: [5])])
    #expect(try storage.value(of: "a", in: .first) == [5])
    try storage.commit([.remove(.first, key: "a"), .remove(.first, key: "absent")])
    #expect(try storage.keys() == [])
  }

  @Test(
    "orders keys by their bytes, and tells apart what Swift calls equal", arguments: RecordStorageKind.all)
  func ordersByBytes(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    // é in one scalar and in two; a NUL; a scalar outside of the basic plane, which UTF-16 would put before U+FFFD.
    let keys = ["", "\0", "\0a", "10", "9", "A", "B", "a", "e\u{301}", "\u{e9}", "\u{fffd}", "\u{1f4a1}"]
    for key in keys.reversed() { try storage.put(key, Array(key.utf8)) }
    let stored = try storage.records(in: .first, after: nil, limit: 100)
    #expect(stored.map { Array($0.key.utf8) } == keys.map { Array($0.utf8) })
    #expect(stored.map { $0.value } == keys.map { Array($0.utf8) })
    #expect(try storage.value(of: "e\u{301}", in: .first) == Array("e\u{301}".utf8))
    #expect(try storage.value(of: "\u{e9}", in: .first) == Array("\u{e9}".utf8))
    for (index, key) in keys.enumerated() {
      #expect(
        try storage.keys(after: key).map { Array($0.utf8) } == keys[(index + 1)...].map { Array($0.utf8) })
    }
  }

  @Test("returns pages from any key", arguments: RecordStorageKind.all)
  func pages(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    let keys = (10..<60).map { "\($0)" }
    try storage.commit(keys.shuffled().map { .put(.first, key: $0, value: []) })
    try storage.put("00", [], in: .second)
    var found: [String] = []
    while true {
      let page = try storage.keys(after: found.last, limit: 7)
      #expect(page.count <= 7)
      guard !page.isEmpty else { break }
      found += page
    }
    #expect(found == keys)
    #expect(try storage.keys(after: "105", limit: 2) == ["11", "12"])
    #expect(try storage.keys(limit: 0) == [])
    #expect(try storage.keys(limit: -1) == [])
    #expect(try storage.keys(after: "99") == [])
  }

  @Test("returns pages in the reverse order from any key", arguments: RecordStorageKind.all)
  func pagesBackwards(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    let keys = (0..<50).map { "k\(100 + $0)" }
    try storage.commit(keys.shuffled().map { .put(.first, key: $0, value: Array($0.utf8)) })
    try storage.put("k120", [1], in: .second)
    func page(before key: String?, limit: Int) throws -> [String] {
      try storage.records(in: .first, before: key, limit: limit).map(\.key)
    }
    var found: [String] = []
    while case let page = try page(before: found.last, limit: 7), !page.isEmpty { found += page }
    #expect(found == keys.reversed())
    // From keys that are not there, too.
    #expect(try page(before: "k1200", limit: 2) == ["k120", "k119"])
    #expect(try page(before: "a", limit: 2) == [] && page(before: "z", limit: 1) == ["k149"])
    #expect(try page(before: nil, limit: 0) == [])
    try storage.commit([.remove(.first, key: "k120")])
    #expect(try page(before: "k121", limit: 1) == ["k119"])
    #expect(try storage.records(in: .first, before: "k102", limit: 1).map(\.value) == [Array("k101".utf8)])
  }

  @Test("has after reopening exactly what was committed", arguments: RecordStorageKind.all)
  func reopens(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    var expected: [String: [UInt8]] = [:]
    for number in 0..<200 {
      let key = "\(number % 37)"
      if number % 5 == 4 {
        try fixture.storage.commit([.remove(.first, key: key)])
        expected[key] = nil
      } else {
        let value = [UInt8](repeating: UInt8(number), count: number * 50)
        try fixture.storage.put(key, value)
        expected[key] = value
      }
    }
    let reopened = try fixture.reopened()
    let records = try reopened.records(in: .first, after: nil, limit: .max)
    #expect(Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value) }) == expected)
    try reopened.put("after", [1])
    #expect(try reopened.value(of: "after", in: .first) == [1])
  }

  @Test("throws closed after it was closed, and can be closed twice", arguments: RecordStorageKind.all)
  func closes(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.put("a", [1])
    try storage.close()
    try storage.close()
    #expect(recordCode { try storage.put("a", [2]) } == .closed)
    #expect(recordCode { try storage.commit([]) } == .closed)
    #expect(recordCode { _ = try storage.value(of: "a", in: .first) } == .closed)
    #expect(recordCode { _ = try storage.keys() } == .closed)
  }

  @Test("can be used from many threads at once", arguments: RecordStorageKind.all)
  func concurrent(kind: RecordStorageKind) async throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try await withThrowingTaskGroup { group in
      for task in 0..<16 {
        group.addTask {
          for number in 0..<20 {
            // Both records of a commit, or none.
            try storage.commit([
              .put(.first, key: "\(task)-\(number)", value: [UInt8(number)]),
              .put(.second, key: "\(task)-\(number)", value: [UInt8(number)]),
            ])
            let first = try storage.value(of: "\(task)-\(number)", in: .first)
            #expect(first == [UInt8(number)])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try storage.keys().count == 320)
    #expect(try storage.keys(in: .second).count == 320)
  }

  @Test("finds what was appended at once, and has it after a sync", arguments: RecordStorageKind.all)
  func appends(kind: RecordStorageKind) throws {
    let fixture = try kind.make()
    for number in 0..<20 { try fixture.storage.append([.put(.first, key: "\(100 + number)", value: [1])]) }
    #expect(try fixture.storage.keys().count == 20)
    try fixture.storage.append([.remove(.first, key: "100"), .put(.second, key: "a", value: [2])])
    try fixture.storage.synchronize()
    try fixture.storage.synchronize()
    let next = try fixture.afterKill().storage
    #expect(try next.keys().count == 19)
    #expect(try next.value(of: "a", in: .second) == [2])
    try fixture.storage.close()
    #expect(recordCode { try fixture.storage.append([.remove(.first, key: "a")]) } == .closed)
  }

  @Test("shares syncs among threads", arguments: RecordStorageKind.all)
  func sharedSyncs(kind: RecordStorageKind) async throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<10 {
            try storage.append([.put(.first, key: "\(task)-\(number)", value: [])])
            try storage.synchronize()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try fixture.afterKill().storage.keys().count == 80)
  }
}
