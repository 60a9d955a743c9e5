// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes

/// Atomic file writes: when the call returns, the file is complete on disk; after an error the old file is unchanged.
enum NewFile {
  /// Writes a file, which has these permissions from the beginning. An existing file is only replaced if `overwriting`.
  /// It then keeps its permissions, a symbolic link is followed, and a device or pipe is written to.
  ///
  /// - Throws: Exit code 73 if the file cannot be created or exists already; 74 if it cannot be written.
  static func write(
    _ contents: [UInt8], to path: String, mode: UInt16 = 0o644, overwriting: Bool = false
  ) throws(ExitCode) {
    if overwriting, let status = try? FileSystem.status(path), !status.isRegularFile {
      let file = try perform(path, creating: true) { () throws(SystemError) in try File(path, .existing) }
      return try perform(path) { () throws(SystemError) in
        try file.write(contents)
        try file.synchronize()
      }
    }
    let file = try PendingFile(path, mode: mode, overwriting: overwriting)
    try file.write(contents)
    try file.finish()
  }

  static func exists(_ path: String) -> Bool { (try? FileSystem.status(path)) != nil }

  static func remove(_ path: String) { try? FileSystem.remove(path) }

  /// Replaces a file by another one in the same folder, and keeps the old one under a third name. The path always has a
  /// file.
  ///
  /// - Throws: Exit code 74.
  static func replace(_ path: String, by new: String, keepingAs old: String) throws(ExitCode) {
    do throws(SystemError) {
      try FileSystem.link(path, as: old)
    } catch {
      guard error.isExisting || error.isMissing else { throw failure(old, error) }
    }
    try perform(path) { () throws(SystemError) in
      try FileSystem.rename(new, to: path)
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: path))
    }
  }

  /// Locks a file for as long as the result exists; `nil` if another process has locked or moved it.
  static func lock(_ path: String) -> File? {
    guard let file = try? File(path, .reading), (try? file.lock()) == true,
      let identity = file.status?.identity, identity == (try? FileSystem.status(path))?.identity
    else { return nil }
    return file
  }

  fileprivate static func perform<Result: ~Copyable>(
    _ path: String, creating: Bool = false, _ body: () throws(SystemError) -> Result
  ) throws(ExitCode) -> Result {
    do { return try body() } catch { throw failure(path, error, creating: creating) }
  }

  fileprivate static func failure(_ path: String, _ error: SystemError, creating: Bool = false) -> ExitCode {
    if error.isExisting { return isThere(path) }
    return ToolExit.failure(
      creating && !error.isFull ? ToolExit.cannotCreate : ToolExit.inputOutput,
      "cannot write \(path): \(error.reason)")
  }

  fileprivate static func isThere(_ path: String) -> ExitCode {
    ToolExit.failure(ToolExit.cannotCreate, "\(path) is there already")
  }
}

/// A new file that is written under a temporary name in the same folder, and renamed when it is finished. Otherwise it
/// is removed.
final class PendingFile {
  let path: String
  /// The temporary path.
  let temporary: String
  private let target: String
  private let overwriting: Bool
  private let file: File

  /// Creates an empty file.
  ///
  /// - Throws: As ``NewFile/write(_:to:mode:overwriting:)``; only a regular file is replaced.
  init(_ path: String, mode: UInt16 = 0o644, overwriting: Bool) throws(ExitCode) {
    let status = try? FileSystem.status(path)
    guard status == nil || overwriting && status?.isRegularFile == true else { throw NewFile.isThere(path) }
    let target = status == nil ? path : FileSystem.resolved(path)
    let temporary = "\(target).\(UInt64.random(in: .min ... .max)).new"
    file = try NewFile.perform(path, creating: true) { () throws(SystemError) in
      try File(temporary, .creating, permissions: mode)
    }
    if let status { file.setPermissions(status.permissions & 0o777) }
    self.path = path
    self.target = target
    self.temporary = temporary
    self.overwriting = overwriting
  }

  func write(_ bytes: [UInt8]) throws(ExitCode) {
    try NewFile.perform(path) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Syncs the file and renames it.
  func finish() throws(ExitCode) {
    try NewFile.perform(path) { () throws(SystemError) in try file.synchronize() }
    try NewFile.perform(path, creating: true) { () throws(SystemError) in
      try overwriting ? FileSystem.rename(temporary, to: target) : FileSystem.link(temporary, as: target)
    }
    try NewFile.perform(path) { () throws(SystemError) in
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: target))
    }
  }

  deinit { NewFile.remove(temporary) }
}
