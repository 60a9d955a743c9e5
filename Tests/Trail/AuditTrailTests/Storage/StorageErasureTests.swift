// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Testing

@Suite("Every storage: erasure")
struct StorageErasureTests {
  @Test("leaves nothing of a part that was overwritten", arguments: StorageKind.durable, [0, 100, 60_000])
  func overwritten(kind: StorageKind, offset: Int) throws {
    let fixture = try kind.make()
    let secrets = (0..<6).map { sampleBytes(3000, seed: 900 + UInt64($0)) }
    for bundle in 0..<6 {
      let value = sampleBytes(offset, seed: UInt64(bundle)) + secrets[bundle] + sampleBytes(100_000, seed: 5)
      try fixture.storage.put(.bundles, Int64(bundle), value)
    }
    try fixture.storage.scrub()
    #expect(try kept(secrets, in: fixture).count == 6)
    for bundle in [3, 0, 5] {
      try fixture.storage.write {
        try $0.overwrite(.bundles, Int64(bundle), at: offset, with: [UInt8](repeating: 0, count: 3000))
      }
    }
    try fixture.storage.scrub()
    #expect(try kept(secrets, in: fixture) == [1, 2, 4])
  }

  /// Rows of many sizes: those within a page are the ones that a storage moves about.
  @Test(
    "leaves nothing of rows erased in any order", arguments: StorageKind.durable,
    [300, 2000, 5000, 12_000, 60_000])
  func removed(kind: StorageKind, size: Int) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    let count = 60
    let secrets = (0..<count).map { sampleBytes(size + $0, seed: 77 + UInt64($0)) }
    for key in 0..<count { try storage.put(.payloads, Int64(key), secrets[key]) }
    // Every third, then what is left from both ends and the middle.
    let order =
      Array(stride(from: 0, to: count, by: 3)) + (0..<count).filter { $0 % 3 == 1 }.reversed() + [20, 5, 35]
    var erased: Set<Int> = []
    for key in order {
      try storage.write { try $0.remove(.payloads, in: Int64(key)...Int64(key), erasing: true) }
      erased.insert(key)
    }
    try storage.scrub()
    let found = try kept(secrets, in: fixture)
    let expected = (0..<count).filter { !erased.contains($0) }
    #expect(found == expected)
    for key in 0..<count {
      #expect(try storage.stored(.payloads, Int64(key)) == (erased.contains(key) ? nil : secrets[key]))
    }
  }

  /// Now and then SQLite leaves a copy of a row where pages are merged that get too empty: many rows of mixed sizes.
  @Test("leaves nothing of rows of mixed sizes", arguments: StorageKind.durable)
  func mixed(kind: StorageKind) throws {
    for round in 0..<12 as Range<UInt64> {
      let fixture = try kind.make()
      var random = SampleNumbers(seed: round)
      let sizes = [100, 300, 900, 2000, 4500, 7000, 12_000]
      let secrets = (0..<120).map {
        sampleBytes((sizes.randomElement(using: &random) ?? 100) + $0, seed: random.next())
      }
      try fixture.storage.write { (writer) throws in
        for key in secrets.indices { try writer.put(.payloads, Int64(key), secrets[key]) }
      }
      let erased = secrets.indices.shuffled(using: &random).prefix(100)
      try fixture.storage.write { (writer) throws in
        for key in erased { try writer.remove(.payloads, in: Int64(key)...Int64(key), erasing: true) }
      }
      try fixture.storage.scrub()
      let found = try kept(secrets, in: fixture)
      #expect(found == secrets.indices.filter { !erased.contains($0) })
    }
  }

  @Test("leaves nothing of a page of personal records that was replaced", arguments: StorageKind.durable)
  func replaced(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    let sizes = [4072, 136 + 8, 5120, 900]
    let secrets = (0..<120).map { sampleBytes(sizes[$0 % 4], seed: 700 + UInt64($0)) }
    try storage.write { (writer) throws in
      for (page, secret) in secrets.enumerated() { try writer.put(.personal, Int64(page), secret) }
    }
    try storage.scrub()
    #expect(try kept(secrets, in: fixture).count == 120)
    for batch in 0..<3 {
      try storage.write { (writer) throws in
        for page in stride(from: batch, to: 120, by: 5) {
          try writer.put(.personal, Int64(page), [UInt8](repeating: 1, count: secrets[page].count))
        }
      }
    }
    try storage.scrub()
    #expect(try kept(secrets, in: fixture) == (0..<120).filter { $0 % 5 > 2 })
  }

  @Test(
    "leaves nothing of index pages, and uses their space again", arguments: StorageKind.durable,
    [StorageTable.pages, .personal])
  func indexPages(kind: StorageKind, table: StorageTable) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    var sizes: [UInt64] = []
    for round in 0..<6 as Range<Int64> {
      let secrets = (0..<200).map { sampleBytes(4090, seed: 5000 + UInt64(round) * 200 + UInt64($0)) }
      let first = round << 24
      try storage.write { (writer) throws in
        for (page, secret) in secrets.enumerated() { try writer.put(table, first + Int64(page), secret) }
      }
      try storage.write { try $0.remove(table, in: first...(first + 149), erasing: true) }
      try storage.scrub()
      let found = try kept(secrets, in: fixture)
      #expect(found == Array(150..<200))
      #expect(try storage.keys(table, in: first...(first + 1000)) == Array((first + 150)...(first + 199)))
      sizes.append(try storage.byteCount())
    }
    // Each round leaves 50 pages of 4 KB. PostgreSQL sees to its free space later.
    if kind.name == "SQLite" { #expect(sizes[5] - sizes[1] < 4 * 50 * 4090 * 2) }
  }

  @Test("leaves nothing of a tail that is emptied over and over", arguments: StorageKind.durable)
  func emptied(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    let secrets = (0..<96).map { sampleBytes(900 + $0 * 7, seed: 31 + UInt64($0)) }
    for key in 0..<96 {
      try storage.put(.tail, Int64(key), secrets[key])
      if key % 32 == 31 {
        try storage.write { try $0.remove(.tail, in: Int64(key - 31)...Int64(key), erasing: true) }
      }
    }
    try storage.scrub()
    #expect(try kept(secrets, in: fixture) == [])
  }

  /// Which of `secrets` are still there, as their first, middle or last 16 bytes.
  private func kept(_ secrets: [[UInt8]], in fixture: StorageFixture) throws -> [Int] {
    var owners: [ArraySlice<UInt8>: Int] = [:]
    for (index, secret) in secrets.enumerated() {
      for start in [0, secret.count / 2, secret.count - 16] { owners[secret[start..<start + 16]] = index }
    }
    var prefixes: Set<UInt32> = []
    for part in owners.keys { prefixes.insert(prefix(part)) }
    var found: Set<Int> = []
    for file in try fixture.contents() where file.count >= 16 {
      var window: UInt32 = 0
      for index in file.indices {
        window = window << 8 | UInt32(file[index])
        guard index >= 3, prefixes.contains(window), index - 3 + 16 <= file.count else { continue }
        if let owner = owners[file[(index - 3)..<(index + 13)]] { found.insert(owner) }
      }
    }
    return found.sorted()
  }

  private func prefix(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
