// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation

@testable import AuditTrailSQLite

/// A folder of one test's own, removed with it.
final class StorageFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/storage-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }
}

extension StorageFixture {
  static func sqlite() throws -> StorageFixture {
    let folder = try StorageFolder()
    let path = folder.file("trail.sqlite")
    return StorageFixture(
      try SQLiteStorage(creatingAt: path), another: { try SQLiteStorage(openingAt: path) },
      contents: { try folder.names().map { try folder.bytes($0) } }, place: folder)
  }
}
