// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Testing

@Suite("Fault injecting storage")
struct FaultInjectingStorageTests {
  @Test("fails each operation in turn, with nothing stored", arguments: 1...6)
  func eachOperation(number: Int) throws {
    for fault in FaultInjectingStorage.Fault.all where !fault.isCommitted {
      let storage = FaultInjectingStorage(MemoryStorage())
      try change(storage, 1)
      storage.fail(at: number, with: fault)
      var rounds = 1
      var codes: [StorageError.Code?] = []
      for _ in 0..<2 {
        let code = storageCode { try change(storage, UInt8(rounds + 1)) }
        codes.append(code)
        if code == nil { rounds += 1 }
        #expect(try storage.stored(.head, 0) == [UInt8(rounds)])
        #expect(try storage.stored(.bundles, 1) == [UInt8(rounds), 0, 0])
        #expect(try storage.keys(.tail) == [])
      }
      // Four changes and a commit make five operations.
      let goesOn = fault.lasts || fault.code == .syncFailed
      #expect(codes == (number == 6 ? [nil, fault.code] : [fault.code, goesOn ? fault.code : nil]))
      storage.heal()
      let stays = fault.code == .syncFailed
      #expect(storageCode { try change(storage, 9) } == (stays ? .syncFailed : nil))
      try change(storage.reopen(), 10)
      #expect(try storage.stored(.head, 0) == [10])
    }
  }

  @Test("fails a commit that took place")
  func committed() throws {
    let storage = FaultInjectingStorage(MemoryStorage())
    storage.fail(at: 5, with: .init(.syncFailed, isCommitted: true))
    #expect(storageCode { try change(storage, 1) } == .syncFailed)
    #expect(storage.operations == [.put(.head), .put(.tail), .remove(.tail), .put(.bundles), .commit])
    #expect(try storage.stored(.head, 0) == [1])
    #expect(storageCode { try change(storage, 2) } == .syncFailed)
    #expect(try storage.reopen().stored(.head, 0) == [1])
  }

  @Test("commits nothing for a body that goes on after a fault")
  func caughtFault() throws {
    let storage = FaultInjectingStorage(MemoryStorage())
    storage.fail(at: 2, with: .init(.full))
    let code = storageCode {
      try storage.write { writer in
        try writer.put(.head, 0, [1])
        try? writer.put(.head, 1, [1])
        try writer.put(.head, 2, [1])
      }
    }
    #expect(code == .full)
    #expect(try storage.keys(.head) == [])
  }

  private func change(_ storage: FaultInjectingStorage, _ number: UInt8) throws {
    try storage.write { writer in
      try writer.put(.head, 0, [number])
      try writer.put(.tail, 0, [number])
      try writer.remove(.tail, in: 0...9, erasing: true)
      try writer.put(.bundles, 1, [number, 0, 0])
    }
  }
}
