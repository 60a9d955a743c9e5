// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of one test's own, removed with it.
final class CheckpointFolder: Sendable {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("checkpoints-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// The names of all that is in it, in order.
  func entries() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }

  func permissions(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
  }
}
