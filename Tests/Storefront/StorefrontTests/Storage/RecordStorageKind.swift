// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storefront
import StorefrontSQLite
import Testing

/// A storage that the conformance suite runs on. Adding one is one line in `all`.
struct RecordStorageKind: Sendable, CustomTestStringConvertible {
  let name: String
  let make: @Sendable () throws -> RecordStorageFixture

  var testDescription: String { name }

  static let all: [RecordStorageKind] = {
    var kinds = [RecordStorageKind(name: "memory") { .memory() }]
    kinds.append(RecordStorageKind(name: "SQLite") { try .sqlite() })
    return kinds
  }()
}

/// An empty storage for one test.
struct RecordStorageFixture: Sendable {
  let storage: any RecordStorage
  /// The storage as the next process finds it, after closing.
  let reopened: @Sendable () throws -> any RecordStorage
  /// The storage as the next process finds it after a kill, without closing.
  let afterKill: @Sendable () throws -> RecordStorageFixture
  /// The folder, kept as long as the storage.
  let place: (any Sendable)?

  static func memory(_ storage: MemoryRecordStorage = MemoryRecordStorage()) -> RecordStorageFixture {
    RecordStorageFixture(
      storage: storage,
      reopened: {
        try storage.close()
        return storage.reopened()
      }, afterKill: { memory(storage.reopened()) }, place: nil)
  }

  static func sqlite() throws -> RecordStorageFixture {
    let folder = try TemporaryFolder()
    return sqlite(try SQLiteRecordStorage(creatingAt: folder.file("records.sqlite")), in: folder)
  }

  private static func sqlite(
    _ storage: SQLiteRecordStorage, in folder: TemporaryFolder
  ) -> RecordStorageFixture {
    let path = storage.path
    return RecordStorageFixture(
      storage: storage,
      reopened: {
        try storage.close()
        return try SQLiteRecordStorage(openingAt: path)
      },
      afterKill: {
        // Copy the files with the log: closing a connection would empty the log first.
        let next = try TemporaryFolder()
        for name in try folder.names() {
          try FileManager.default.copyItem(atPath: folder.file(name), toPath: next.file(name))
        }
        return sqlite(try SQLiteRecordStorage(openingAt: next.file("records.sqlite")), in: next)
      }, place: folder)
  }
}

/// A folder of one test, removed with it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/storefront-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

extension RecordCollection {
  static let first = RecordCollection(rawValue: "first")
  static let second = RecordCollection(rawValue: "second")
}

extension RecordStorage {
  func put(_ key: String, _ value: [UInt8], in collection: RecordCollection = .first) throws {
    try commit([.put(collection, key: key, value: value)])
  }

  func keys(
    in collection: RecordCollection = .first, after key: String? = nil, limit: Int = .max
  ) throws -> [String] {
    try records(in: collection, after: key, limit: limit).map { $0.key }
  }
}

/// The code of the storage error that `body` throws, if any.
func recordCode(_ body: () throws -> Void) -> RecordStorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? RecordStorageError)?.code
  }
}
