// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Testing

@Suite struct MemoryStorageTests {
  private struct Undone: Error {}

  @Test func `A write that throws changes nothing, and a read sees one state`() throws {
    let storage = MemoryStorage()
    try storage.write { try $0.put(.tail, 1, [1]) }
    #expect(throws: Undone.self) {
      try storage.write { writer in
        try writer.put(.tail, 1, [2])
        try writer.remove(.tail, in: 0...9, erasing: true)
        throw Undone()
      }
    }
    try storage.read { reader in
      try storage.write { try $0.overwrite(.tail, 1, at: 0, with: [3]) }
      #expect(try reader.value(.tail, 1) == [1])
    }
    #expect(try storage.read { try $0.value(.tail, 1) } == [3])
    let copy = storage.copy()
    try storage.close()
    #expect(throws: StorageError.self) { try storage.read { _ in } }
    #expect(try copy.read { try $0.value(.tail, 1, bytes: 0..<5) } == [3])
  }

  @Test func `Tables are ordered whatever the order of the changes`() throws {
    let storage = MemoryStorage()
    var random = SampleNumbers(seed: 5)
    var model: [Int64: [UInt8]] = [:]
    for _ in 0..<40 {
      try storage.write { writer in
        for _ in 0..<60 {
          let key = Int64(random.next() % 3_000) - 1_000
          switch random.next() % 8 {
          case 0:
            let keys = key...key + Int64(random.next() % 200)
            try writer.remove(.pages, in: keys, erasing: false)
            model = model.filter { !keys.contains($0.key) }
          case 1 where model[key] != nil:
            try writer.overwrite(.pages, key, at: 1, with: [9])
            model[key]?[1] = 9
          default:
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 3)
            try writer.put(.pages, key, value)
            model[key] = value
          }
        }
      }
      try storage.read { reader in
        var keys: [Int64] = []
        try reader.forEach(.pages, in: .min ... .max) { key, value in
          #expect(model[key] == value)
          keys.append(key)
          return true
        }
        #expect(keys == model.keys.sorted())
        let probe = Int64(random.next() % 3_000) - 1_000
        #expect(try reader.lastKey(.pages, in: .min...probe) == model.keys.filter { $0 <= probe }.max())
        #expect(try reader.value(.pages, probe) == model[probe])
      }
    }
  }
}
