// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import Synchronization

/// Atomic file writes. When a call returns, the file is complete on disk; after an error, the old file is unchanged.
enum NewFile {
  /// Writes a file, which has the given permissions from the beginning. An existing file is replaced only if
  /// `overwriting` is `true`. It then keeps its permissions; a symbolic link is followed; a device or pipe is written
  /// to. With `isOwn` it may be an input of the command: a file that the command itself manages, such as the settings of
  /// a store.
  ///
  /// - Throws: Exit code 73 if the file cannot be created, exists already or is an input of the command; 74 if it
  ///   cannot be written.
  static func write(
    _ contents: [UInt8], to path: String, mode: UInt16 = 0o644, overwriting: Bool = false, isOwn: Bool = false
  ) throws(ExitCode) {
    if overwriting, !isOwn { try CommandInputs.refuse(asOutput: path) }
    if overwriting, let status = try? FileSystem.status(path), !status.isRegularFile {
      let file = try perform(path, creating: true) { () throws(SystemError) in try File(path, .existing) }
      return try perform(path) { () throws(SystemError) in
        try file.write(contents)
        try file.synchronize()
      }
    }
    let file = try PendingFile(path, mode: mode, overwriting: overwriting, isOwn: isOwn)
    try file.write(contents)
    try file.finish()
  }

  /// Creates a folder, if it does not exist.
  ///
  /// - Throws: Exit code 73.
  static func makeFolder(_ path: String) throws(ExitCode) {
    do throws(SystemError) { try FileSystem.makeDirectory(path, permissions: 0o755) } catch {
      guard error.isExisting else {
        throw ToolExit.failure(.cannotCreate, "cannot make \(path): \(error.reason)")
      }
    }
  }

  /// Refuses to create files if one of them exists.
  ///
  /// - Throws: Exit code 73.
  static func requireAbsent(_ paths: String?...) throws(ExitCode) {
    for case let path? in paths where exists(path) { throw isThere(path) }
  }

  static func exists(_ path: String) -> Bool { (try? FileSystem.status(path)) != nil }

  static func remove(_ path: String) { try? FileSystem.remove(path) }

  /// Replaces a file by another one in the same folder, and keeps the old file under a third name. At any time there is
  /// a file at the path.
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

  /// Locks a file for the lifetime of the result; `nil` if another process has locked or moved it.
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
      creating && !error.isFull ? ExitCode.cannotCreate : ExitCode.inputOutput,
      "cannot write \(path): \(error.reason)")
  }

  fileprivate static func isThere(_ path: String) -> ExitCode {
    ToolExit.failure(.cannotCreate, "\(path) is there already")
  }
}

/// A new file that is written under a temporary name in the same folder, and renamed when it is finished. If it is not
/// finished, it is removed, also if SIGHUP, SIGINT or SIGTERM ends the process. The file that a killed process left is
/// removed when the same file is written again.
final class PendingFile {
  let path: String
  private let target: String
  private let overwriting: Bool
  private let isOwn: Bool
  private let unfinished: TemporaryFile

  var temporary: String { unfinished.path }

  /// Creates an empty file, which may replace one of the command's inputs only if that is the command's own file.
  ///
  /// - Throws: The same as ``NewFile/write(_:to:mode:overwriting:isOwn:)``; only a regular file is replaced.
  init(_ path: String, mode: UInt16 = 0o644, overwriting: Bool, isOwn: Bool = false) throws(ExitCode) {
    if overwriting, !isOwn { try CommandInputs.refuse(asOutput: path) }
    let status = try? FileSystem.status(path)
    guard status == nil || overwriting && status?.isRegularFile == true else { throw NewFile.isThere(path) }
    let target = try Self.target(of: path, exists: status != nil)
    TemporaryFile.removeLeftovers(of: target)
    do throws(SystemError) {
      unfinished = try TemporaryFile.create(beside: target, mode: mode)
    } catch {
      throw NewFile.failure(path, error, creating: true)
    }
    if let status { unfinished.file.setPermissions(status.permissions & 0o777) }
    self.path = path
    self.target = target
    self.overwriting = overwriting
    self.isOwn = isOwn
  }

  /// The path that the file is renamed to. A symbolic link is followed.
  private static func target(of path: String, exists: Bool) throws(ExitCode) -> String {
    guard exists, let own = try? FileSystem.linkStatus(path), !own.isRegularFile else { return path }
    guard let target = FileSystem.resolved(path) else {
      throw ToolExit.failure(
        .cannotCreate, "cannot write \(path): the link leads to a path that is not UTF-8")
    }
    return target
  }

  func write(_ bytes: [UInt8]) throws(ExitCode) {
    try NewFile.perform(path) { () throws(SystemError) in try unfinished.file.write(bytes) }
  }

  /// Syncs the file and renames it.
  func finish() throws(ExitCode) {
    // The command may have opened more inputs since the file was created.
    if overwriting, !isOwn { try CommandInputs.refuse(asOutput: path) }
    try NewFile.perform(path) { () throws(SystemError) in try unfinished.file.synchronize() }
    try NewFile.perform(path, creating: true) { () throws(SystemError) in
      try overwriting ? FileSystem.rename(temporary, to: target) : FileSystem.link(temporary, as: target)
    }
    try NewFile.perform(path) { () throws(SystemError) in
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: target))
    }
  }
}

/// A file under a temporary name, `FILE.NUMBER.new`, which is removed at the end. While its process lives, the file is
/// locked; an unlocked one is a leftover.
private struct TemporaryFile: ~Copyable {
  let path: String
  let file: File
  private let unfinished: UnfinishedFile

  private static let suffix = ".new"
  /// The names of unfinished files by folder, as found when the first file was written there.
  private static let found = Mutex<[String: [String]]>([:])

  static func create(beside target: String, mode: UInt16) throws(SystemError) -> TemporaryFile {
    while true {
      let path = "\(target).\(UInt64.random(in: .min ... .max))\(suffix)"
      let unfinished = UnfinishedFile(path)
      let file: File
      do throws(SystemError) {
        file = try File(path, .creating, permissions: mode)
      } catch {
        unfinished.finish()
        throw error
      }
      // Before it was locked, another process may have removed it as a leftover. Some file systems do not support
      // locks.
      let isLocked = (try? file.lock()) ?? true
      if isLocked, let identity = file.status?.identity, identity == (try? FileSystem.status(path))?.identity
      {
        return TemporaryFile(path: path, file: file, unfinished: unfinished)
      }
      unfinished.finish()
    }
  }

  deinit {
    NewFile.remove(path)
    unfinished.finish()
  }

  /// Removes the unfinished files of processes that were killed. The file of a living process is locked.
  static func removeLeftovers(of target: String) {
    let folder = FileSystem.directory(of: target)
    let prefix = (target.split(separator: "/").last.map(String.init) ?? "") + "."
    let names = found.withLock { found in
      if let known = found[folder] { return known }
      let names = ((try? FileSystem.names(in: folder)) ?? []).filter { $0.hasSuffix(suffix) }
      found[folder] = names
      return names
    }
    for name in names where name.hasPrefix(prefix) {
      guard UInt64(name.dropFirst(prefix.count).dropLast(suffix.count)) != nil,
        let file = try? File("\(folder)/\(name)", .readingItself), file.status?.isRegularFile == true,
        (try? file.lock()) == true
      else { continue }
      NewFile.remove("\(folder)/\(name)")
    }
  }
}
