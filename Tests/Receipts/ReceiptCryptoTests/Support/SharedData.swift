// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The folder of published vectors and receipts beside the package, which is not part of it.
enum SharedData {
  static let root: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] { return URL(filePath: path) }
    return URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "shared")
  }()

  static let explanation: String = "published vectors; set RECEIPTKIT_SHARED to the folder that holds them"

  /// Returns `true` if `folder` exists. Standard error says so if it does not.
  static func has(_ folder: String) -> Bool {
    if FileManager.default.fileExists(atPath: root.appending(path: folder).path) { return true }
    FileHandle.standardError.write(
      Data("SKIPPED: no \(root.appending(path: folder).path): \(explanation)\n".utf8))
    return false
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: root.appending(path: path)))
  }

  static func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted()
  }
}
