// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The `openssl` command, as the other opinion in tests.
struct OpenSSLCommand {
  /// `true` if the command is in PATH. Standard error says so if it is not.
  static let isAvailable: Bool = {
    if path != nil { return true }
    FileHandle.standardError.write(Data("SKIPPED: there is no openssl command in PATH\n".utf8))
    return false
  }()

  private static let path: URL? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { URL(filePath: String($0)).appending(path: "openssl") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }()

  /// The folder of its files.
  let folder: URL

  /// Makes a folder, which the caller removes.
  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "receiptkit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }

  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }

  /// Runs the command and returns its output, both streams together.
  @discardableResult func run(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = Self.path
    process.arguments = arguments
    process.currentDirectoryURL = folder
    // A file and no pipe: nothing can fill up.
    let output = folder.appending(path: "output-\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: output.path, contents: nil) else { throw CannotWrite() }
    let file = try FileHandle(forWritingTo: output)
    process.standardOutput = file
    process.standardError = file
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try file.close()
    return String(decoding: try Data(contentsOf: output), as: UTF8.self)
  }

  struct CannotWrite: Error {}
}
