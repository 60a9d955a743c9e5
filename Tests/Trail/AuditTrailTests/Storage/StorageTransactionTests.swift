// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import Synchronization
import Testing

@Suite("Every storage: transactions")
struct StorageTransactionTests {
  @Test("keeps nothing of a write that throws, and throws what its body threw", arguments: StorageKind.all)
  func rollback(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.write { (writer) throws in
      try writer.put(.head, 0, [1])
      try writer.put(.bundles, 0, sampleBytes(100_000))
      try writer.put(.tail, 1, [1])
    }
    #expect(throws: Refusal(number: 7)) {
      try storage.write { (writer) throws in
        try writer.put(.head, 0, [2])
        try writer.put(.bundles, 1, sampleBytes(1_000_000))
        try writer.overwrite(.bundles, 0, at: 50_000, with: [0, 0, 0])
        try writer.remove(.tail, in: 0...9, erasing: true)
        throw Refusal(number: 7)
      }
    }
    #expect(try storage.stored(.head, 0) == [1])
    #expect(try storage.stored(.bundles, 0) == sampleBytes(100_000))
    #expect(try storage.keys(.bundles) == [0])
    #expect(try storage.keys(.tail) == [1])
    try storage.put(.head, 0, [3])
    #expect(try storage.stored(.head, 0) == [3])
  }

  @Test(
    "shows a write before it is synced, has it outlive a sync, and undoes one that throws",
    arguments: StorageKind.all)
  func unsynchronized(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.writeUnsynchronized { (writer) throws in try writer.put(.head, 0, [1]) }
    #expect(try storage.stored(.head, 0) == [1])
    if let another = fixture.another { #expect(try another().stored(.head, 0) == [1]) }
    #expect(throws: Refusal()) {
      try storage.writeUnsynchronized { (writer) throws in
        try writer.put(.head, 0, [2])
        throw Refusal()
      }
    }
    try storage.synchronize()
    #expect(try storage.stored(.head, 0) == [1])
    try storage.put(.head, 0, [3])
    if let another = fixture.another { #expect(try another().stored(.head, 0) == [3]) }
  }

  @Test("shows a write what it changed since it was prefetched", arguments: StorageKind.all)
  func prefetchedChanges(kind: StorageKind) throws {
    let fixture = try kind.make()
    try fixture.storage.write { (writer) throws in
      for key in Int64(1)...4 { try writer.put(.pages, key, [UInt8(key), 0]) }
    }
    try fixture.storage.write { (writer) throws in
      try writer.prefetch(.pages) { [1, 2, 3, 4, 5] }
      try writer.put(.pages, 1, [11])
      try writer.overwrite(.pages, 2, at: 1, with: [12])
      try writer.remove(.pages, in: 3...3, erasing: false)
      try writer.put(.pages, 5, [15])
      #expect(
        try (1...5).map { try writer.value(.pages, $0) } == [[11], [2, 12], nil, [4, 0], [15]])
      #expect(try writer.value(.pages, 2, bytes: 1..<2) == [12])
    }
  }

  @Test("gives what the body gives, and shows it what it wrote", arguments: StorageKind.all)
  func ownChanges(kind: StorageKind) throws {
    let fixture = try kind.make()
    let sum = try fixture.storage.write { (writer) throws in
      for key in 1...5 { try writer.put(.tail, Int64(key), [UInt8(key)]) }
      try writer.remove(.tail, in: 2...3, erasing: false)
      return try writer.keys(.tail).reduce(0, +)
    }
    #expect(sum == 10)
    #expect(throws: Refusal()) { try fixture.storage.read { _ in throw Refusal() } }
  }

  @Test("shows a read one state, and does not have it wait for a writer", arguments: StorageKind.all)
  func isolation(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.put(.head, 0, [1])
    let written = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)
    let seen = DispatchSemaphore(value: 0)
    let writer = Thread {
      _ = begun.wait(timeout: .now() + 20)
      try? storage.write { (writer) throws in
        try writer.put(.head, 0, [2])
        // The reader reads while this write is not committed yet.
        written.signal()
        _ = seen.wait(timeout: .now() + 20)
      }
      written.signal()
    }
    writer.start()
    try storage.read { (reader) throws in
      #expect(try reader.value(.head, 0) == [1])
      begun.signal()
      #expect(written.wait(timeout: .now() + 20) == .success)
      #expect(try reader.value(.head, 0) == [1])
      // Another read that begins now.
      #expect(try storage.stored(.head, 0) == [1])
      seen.signal()
      #expect(written.wait(timeout: .now() + 20) == .success)
      #expect(try reader.value(.head, 0) == [1])
      #expect(try reader.keys(.head) == [0])
    }
    #expect(try storage.stored(.head, 0) == [2])
  }

  @Test("lets one write at a time, each seeing the ones before", arguments: StorageKind.all)
  func exclusivityAmongThreads(kind: StorageKind) throws {
    let fixture = try kind.make()
    try count(on: [fixture.storage, fixture.storage, fixture.storage, fixture.storage], rounds: 40)
    #expect(try fixture.storage.stored(.head, 0) == counter(160))
    #expect(try fixture.storage.keys(.tail) == Array(1...160))
  }

  @Test("lets one write at a time among all that have the trail open", arguments: StorageKind.durable)
  func exclusivityAmongHandles(kind: StorageKind) throws {
    let fixture = try kind.make()
    let another = try #require(fixture.another)
    let others = try [another(), another(), another()]
    try count(on: [fixture.storage] + others, rounds: 40)
    for storage in [fixture.storage] + others {
      #expect(try storage.stored(.head, 0) == counter(160))
      try storage.close()
    }
  }

  @Test("keeps everything when it is closed and opened again", arguments: StorageKind.durable)
  func reopening(kind: StorageKind) throws {
    let fixture = try kind.make()
    let another = try #require(fixture.another)
    try fixture.storage.put(.bundles, 1, sampleBytes(200_000))
    try fixture.storage.close()
    let storage = try another()
    #expect(try storage.stored(.bundles, 1) == sampleBytes(200_000))
    try storage.put(.bundles, 2, [2])
    try storage.close()
    #expect(try another().keys(.bundles) == [1, 2])
  }

  @Test("refuses use after it was closed", arguments: StorageKind.all)
  func closing(kind: StorageKind) throws {
    let fixture = try kind.make()
    let storage = fixture.storage
    try storage.put(.head, 0, [1])
    try storage.close()
    #expect(storageCode { _ = try storage.stored(.head, 0) } == .closed)
    #expect(storageCode { try storage.put(.head, 0, [1]) } == .closed)
    #expect(storageCode { try storage.scrub() } == .closed)
    #expect(storageCode { _ = try storage.byteCount() } == .closed)
    try storage.close()
  }

  @Test("counts its bytes", arguments: StorageKind.all)
  func byteCount(kind: StorageKind) throws {
    let fixture = try kind.make()
    let before = try fixture.storage.byteCount()
    for key in 0..<8 { try fixture.storage.put(.bundles, Int64(key), sampleBytes(200_000)) }
    let after = try fixture.storage.byteCount()
    #expect(after >= before + 1_600_000)
    #expect(after < before + 8_000_000)
  }

  /// Has one thread for each storage add one to the number in the head, and put a row for it.
  private func count(on storages: [any TrailStorage], rounds: Int) throws {
    let faults = Mutex<[String]>([])
    let group = DispatchGroup()
    for storage in storages {
      group.enter()
      Thread {
        defer { group.leave() }
        do {
          for _ in 0..<rounds {
            try storage.write { (writer) throws in
              let number = try writer.value(.head, 0).map { UInt16($0[0]) << 8 | UInt16($0[1]) } ?? 0
              try writer.put(.head, 0, counter(number + 1))
              try writer.put(.tail, Int64(number) + 1, [])
            }
          }
        } catch {
          faults.withLock { $0.append("\(error)") }
        }
      }.start()
    }
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(faults.withLock { $0 } == [])
  }
}

private func counter(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
