// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes

/// Files that commands write: each is on disk as a whole when the call returns, or what was at its path stays.
enum NewFile {
  /// Writes a file with these permissions from the first byte on. One that is there is only replaced when
  /// `overwriting`; then it keeps its permissions, a symbolic link still leads to it, and a device or pipe is written
  /// to.
  ///
  /// - Throws: Exit code 73 where the file cannot be made, or is there already; 74 where it cannot be written.
  static func write(
    _ contents: [UInt8], to path: String, mode: UInt16 = 0o644, overwriting: Bool = false
  ) throws(ExitCode) {
    if overwriting, let status = try? FileSystem.status(path), !status.isRegularFile {
      let file = try doing(path, creating: true) { () throws(SystemError) in try File(path, .existing) }
      return try doing(path) { () throws(SystemError) in
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

  /// Puts a file in the place of another in the same folder, which is kept under a third name. At every moment there is
  /// a file in the place.
  ///
  /// - Throws: Exit code 74.
  static func replace(_ path: String, by new: String, keepingAs old: String) throws(ExitCode) {
    do throws(SystemError) {
      try FileSystem.link(path, as: old)
    } catch {
      guard error.isExisting || error.isMissing else { throw failure(old, error) }
    }
    try doing(path) { () throws(SystemError) in
      try FileSystem.rename(new, to: path)
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: path))
    }
  }

  /// Keeps other processes from a file for as long as what is returned exists; `nil` where another has it, or has moved
  /// it.
  static func lock(_ path: String) -> File? {
    guard let file = try? File(path, .reading), (try? file.lock()) == true,
      let identity = file.status?.identity, identity == (try? FileSystem.status(path))?.identity
    else { return nil }
    return file
  }

  fileprivate static func doing<Result: ~Copyable>(
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

/// A new file that is filled under a temporary name beside its own, and takes its name when it is finished. Without that
/// nothing is left of it.
final class PendingFile {
  let path: String
  /// Where it is until it is finished.
  let temporary: String
  private let target: String
  private let overwriting: Bool
  private let file: File

  /// Makes the file, empty.
  ///
  /// - Throws: As ``NewFile/write(_:to:mode:overwriting:)``; what is at the path and no regular file is not replaced.
  init(_ path: String, mode: UInt16 = 0o644, overwriting: Bool) throws(ExitCode) {
    let status = try? FileSystem.status(path)
    guard status == nil || overwriting && status?.isRegularFile == true else { throw NewFile.isThere(path) }
    let target = status == nil ? path : FileSystem.resolved(path)
    let temporary = "\(target).\(UInt64.random(in: .min ... .max)).new"
    file = try NewFile.doing(path, creating: true) { () throws(SystemError) in
      try File(temporary, .creating, permissions: mode)
    }
    if let status { file.setPermissions(status.permissions & 0o777) }
    self.path = path
    self.target = target
    self.temporary = temporary
    self.overwriting = overwriting
  }

  func write(_ bytes: [UInt8]) throws(ExitCode) {
    try NewFile.doing(path) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Has the file on disk, under its name.
  func finish() throws(ExitCode) {
    try NewFile.doing(path) { () throws(SystemError) in try file.synchronize() }
    try NewFile.doing(path, creating: true) { () throws(SystemError) in
      try overwriting ? FileSystem.rename(temporary, to: target) : FileSystem.link(temporary, as: target)
    }
    try NewFile.doing(path) { () throws(SystemError) in
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: target))
    }
  }

  deinit { NewFile.remove(temporary) }
}
