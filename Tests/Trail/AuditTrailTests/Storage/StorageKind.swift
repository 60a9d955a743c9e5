// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Testing

/// A storage that the conformance suite runs on. Adding one is one line in `all`.
struct StorageKind: Sendable, CustomTestStringConvertible {
  let name: String
  let make: @Sendable () throws -> StorageFixture

  var testDescription: String { name }

  static let all: [StorageKind] = {
    var kinds = [StorageKind(name: "memory") { StorageFixture(MemoryStorage()) }]
    kinds.append(StorageKind(name: "SQLite") { try .sqlite() })
    #if PostgreSQL
      if PostgreSQLServer.isPresent { kinds.append(StorageKind(name: "PostgreSQL") { try .postgreSQL() }) }
    #endif
    return kinds
  }()

  /// Those that outlive a handle.
  static var durable: [StorageKind] { all.filter { $0.name != "memory" } }
}

/// An empty storage for one test.
struct StorageFixture: Sendable {
  let storage: any TrailStorage
  /// A further handle on the same trail, as another process would have it; `nil` where nobody else can have one.
  let another: (@Sendable () throws -> any TrailStorage)?
  /// Every byte that the storage keeps, erased or not.
  let contents: @Sendable () throws -> [[UInt8]]
  /// Kept for as long as the storage: a folder, a server.
  let place: (any Sendable)?

  init(
    _ storage: any TrailStorage, another: (@Sendable () throws -> any TrailStorage)? = nil,
    contents: @escaping @Sendable () throws -> [[UInt8]] = { [] }, place: (any Sendable)? = nil
  ) {
    self.storage = storage
    self.another = another
    self.contents = contents
    self.place = place
  }
}

extension TrailStorage {
  func stored(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
    try read { try $0.value(table, key) }
  }

  func keys(_ table: StorageTable, in keys: ClosedRange<Int64> = .min ... .max) throws -> [Int64] {
    try read { try $0.keys(table, in: keys) }
  }

  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    try write { try $0.put(table, key, value) }
  }
}

extension StorageReader {
  func keys(_ table: StorageTable, in keys: ClosedRange<Int64> = .min ... .max) throws -> [Int64] {
    var found: [Int64] = []
    try forEach(table, in: keys) { key, _ in
      found.append(key)
      return true
    }
    return found
  }
}

/// The error of the body in tests.
struct Refusal: Error, Hashable {
  var number = 1
}

/// The code of the storage error that `body` throws; `nil` where it throws none.
func storageCode(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}

/// Numbers that look random and are the same every time.
struct SampleNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// Bytes that are found nowhere else.
func sampleBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var numbers = SampleNumbers(seed: seed)
  return (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next() >> 32) }
}
