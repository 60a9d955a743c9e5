// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import FoundationEssentials
import Testing
import TransparencyLog

/// Somebody with all rights on the file, but without the key, changes a trail: whatever is not found by opening it
/// or by the check must not have changed anything that it says.
@Suite struct TamperingTests {
  #if ADDRESS_SANITIZER
    // The ordinary run checks the answers. This one only finds reads out of bounds, so fewer tamperings will do.
    private static let fewest = 60
  #else
    private static let fewest = 250
  #endif
  /// 10,000 with RECEIPTKIT_FULL_SWEEPS=1.
  private static let count =
    ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1" ? 10_000 : fewest

  private enum Tampering: CaseIterable {
    case flip, burst, zeroPage, swapPages, truncate, deleteRow, swapRows, alterRow, addRow, oldCopy
  }

  @Test("of random tamperings with a trail's file, none that changes what it says goes unnoticed")
  func tamper() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/tampering-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/trail"
    let fixture = try TrailFixture(storage: SQLiteStorage(creatingAt: path))
    var log = try fixture.create()
    // Small batches, so that the index has runs and the file has pages of every sort.
    for start in stride(from: 0, to: 300, by: 60) {
      try await log.append(
        (start..<start + 60).map {
          var record = TrailFixture.record($0, token: "customer \($0 % 5)")
          // In a row of its own: it is erased.
          if $0 == 7 { record.receiptBytes = [UInt8](repeating: 7, count: 5000) }
          return record
        })
    }
    try log.close()
    let old = Array(try #require(FileManager.default.contents(atPath: path)))
    log = try fixture.open(SQLiteStorage(openingAt: path))
    for start in stride(from: 300, to: 1400, by: 100) {
      try await log.append(TrailFixture.records(start..<start + 100))
    }
    try await log.erase(entry: 7)
    try log.close()
    let genuine = Array(try #require(FileManager.default.contents(atPath: path)))
    let content = try Self.content(of: path)
    #expect(content.keys.contains { $0.hasPrefix("pages") })
    #expect(try Self.isSound(path, fixture))

    var random = SystemRandomNumberGenerator()
    var noticed = 0
    for number in 0..<Self.count {
      let tampering = try #require(Tampering.allCases.randomElement(using: &random))
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      let changed = tampering == .oldCopy ? old : Self.change(genuine, tampering, &random)
      _ = FileManager.default.createFile(atPath: path, contents: Data(changed))
      let isChanged = (try? Self.apply(tampering, to: path, &random)) ?? true
      guard isChanged, (try? Self.isSound(path, fixture)) == true else {
        noticed += 1
        continue
      }
      // A byte that SQLite does not use, or one of its own counters: nothing that the trail says.
      #expect(try Self.content(of: path) == content, "tampering \(number): \(tampering)")
    }
    #expect(noticed > Self.count / 2)
  }

  private static func isSound(_ path: String, _ fixture: TrailFixture) throws -> Bool {
    let storage = try SQLiteStorage(openingAt: path)
    defer { try? storage.close() }
    let checker = TrailChecker(
      storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    guard try checker.check().isClean else { return false }
    _ = try fixture.open(storage)
    return true
  }

  private static func content(of path: String) throws -> [String: [UInt8]] {
    let storage = try SQLiteStorage(openingAt: path)
    defer { try? storage.close() }
    var rows: [String: [UInt8]] = [:]
    try storage.read { reader in
      // Most of the wrapping keys are not in use, and what is left of the erased part is without a key.
      for table in StorageTable.allCases where table != .keys {
        try reader.forEach(table, in: .min ... .max) { key, value in
          if table != .payloads { rows["\(table) \(key)"] = value }
          return true
        }
      }
    }
    return rows
  }

  /// Changes of the file.
  private static func change(
    _ file: [UInt8], _ tampering: Tampering, _ random: inout SystemRandomNumberGenerator
  ) -> [UInt8] {
    var file = file
    let pageSize = max(512, Int(file[16]) << 8 | Int(file[17]))
    let pages = file.count / pageSize
    func page() -> Int { Int.random(in: 0..<pages, using: &random) * pageSize }
    switch tampering {
    case .flip:
      file[Int.random(in: 0..<file.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case .burst:
      let start = Int.random(in: 0..<file.count - 64, using: &random)
      for offset in start..<start + 64 { file[offset] = UInt8.random(in: 0...255, using: &random) }
    case .zeroPage:
      let start = page()
      for offset in start..<start + pageSize { file[offset] = 0 }
    case .swapPages:
      let (first, second) = (page(), page())
      for offset in 0..<pageSize { file.swapAt(first + offset, second + offset) }
    case .truncate:
      file.removeLast(Int.random(in: 1...file.count, using: &random))
    default: break
    }
    return file
  }

  /// Changes of rows, made with SQLite; whether anything was changed.
  private static func apply(
    _ tampering: Tampering, to path: String, _ random: inout SystemRandomNumberGenerator
  ) throws -> Bool {
    guard [.deleteRow, .swapRows, .alterRow, .addRow].contains(tampering) else { return true }
    let storage = try SQLiteStorage(openingAt: path)
    defer { try? storage.close() }
    let number = Int.random(in: 0..<Int.max, using: &random)
    return try storage.write { writer in
      var rows: [(StorageTable, Int64, [UInt8])] = []
      for table in StorageTable.allCases {
        try writer.forEach(table, in: .min ... .max) { key, value in
          rows.append((table, key, value))
          return true
        }
      }
      let (table, key, value) = rows[number % rows.count]
      switch tampering {
      case .deleteRow: try writer.remove(table, in: key...key, erasing: false)
      case .addRow: try writer.put(table, key + Int64(1 + number % 1000), value)
      case .alterRow:
        var value = value
        value[number / rows.count % max(1, value.count)] ^= 0x10
        try writer.put(table, key, value)
      default:
        let others = rows.filter { $0.0 == table && $0.1 != key }
        guard !others.isEmpty else { return false }
        let other = others[number / rows.count % others.count]
        try writer.put(table, key, other.2)
        try writer.put(table, other.1, value)
        return value != other.2
      }
      return true
    }
  }
}
