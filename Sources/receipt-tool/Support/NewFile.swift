// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// Files that commands write: each is on disk as a whole when the call returns, or what was at its path stays.
enum NewFile {
  /// Writes a file with these permissions from the first byte on. One that is there is only replaced when
  /// `overwriting`; then it keeps its permissions, a symbolic link still leads to it, and a device or pipe is written
  /// to.
  ///
  /// - Throws: Exit code 73 where the file cannot be made, or is there already; 74 where it cannot be written.
  static func write(
    _ contents: [UInt8], to path: String, mode: mode_t = 0o644, overwriting: Bool = false
  ) throws(ExitCode) {
    var status = stat()
    if overwriting, unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(path, cannotCreate: true) }
      return try fill(descriptor, path, contents)
    }
    let file = try PendingFile(path, mode: mode, overwriting: overwriting)
    try file.write(contents)
    try file.finish()
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func remove(_ path: String) { _ = unsafe unlink(path) }

  /// Puts a file in the place of another in the same folder, which is kept under a third name. At every moment there is
  /// a file in the place.
  ///
  /// - Throws: Exit code 74.
  static func replace(_ path: String, by new: String, keepingAs old: String) throws(ExitCode) {
    guard unsafe link(path, old) == 0 || errno == EEXIST || errno == ENOENT else { throw failure(old) }
    guard unsafe rename(new, path) == 0 else { throw failure(path) }
    try synchronizeDirectory(of: path)
  }

  /// Keeps other processes from a file until this one ends; `false` where another has it, or has moved it.
  static func lock(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    var (opened, named) = (stat(), stat())
    return unsafe descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
      && fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino
  }

  private static func fill(_ descriptor: Int32, _ path: String, _ contents: [UInt8]) throws(ExitCode) {
    let isWritten = writeAll(contents, to: descriptor)
    try close(descriptor, path, isWritten: isWritten)
  }

  /// Syncs and closes a file. A device or pipe cannot be synced.
  fileprivate static func close(_ descriptor: Int32, _ path: String, isWritten: Bool = true) throws(ExitCode)
  {
    let isSynchronized = isWritten && (fsync(descriptor) == 0 || errno == EINVAL)
    let number = errno
    guard Glibc.close(descriptor) == 0, isSynchronized else {
      if !isSynchronized { errno = number }
      throw failure(path)
    }
  }

  fileprivate static func synchronizeDirectory(of path: String) throws(ExitCode) {
    let end = path.lastIndex(of: "/")
    let descriptor = unsafe open(
      end.map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { _ = Glibc.close(descriptor) }
    guard descriptor >= 0, fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path) }
  }

  fileprivate static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  static func failure(_ path: String, cannotCreate: Bool = false) -> ExitCode {
    let number = errno
    if number == EEXIST { return ToolExit.failure(ToolExit.cannotCreate, "\(path) is there already") }
    return ToolExit.failure(
      cannotCreate && number != ENOSPC ? ToolExit.cannotCreate : ToolExit.inputOutput,
      "cannot write \(path): \(systemMessage(number))")
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
  private var descriptor: Int32

  /// Makes the file, empty.
  ///
  /// - Throws: As ``NewFile/write(_:to:mode:overwriting:)``; what is at the path and no regular file is not replaced.
  init(_ path: String, mode: mode_t = 0o644, overwriting: Bool) throws(ExitCode) {
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    guard !isThere || overwriting && status.st_mode & S_IFMT == S_IFREG else {
      errno = EEXIST
      throw NewFile.failure(path)
    }
    self.path = path
    self.overwriting = overwriting
    target = isThere ? NewFile.resolved(path) : path
    temporary = "\(target).\(UInt64.random(in: .min ... .max)).new"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    descriptor = unsafe open(temporary, flags, mode)
    guard descriptor >= 0 else { throw NewFile.failure(path, cannotCreate: true) }
    if isThere { _ = fchmod(descriptor, status.st_mode & 0o777) }
  }

  func write(_ bytes: [UInt8]) throws(ExitCode) {
    guard writeAll(bytes, to: descriptor) else { throw NewFile.failure(path) }
  }

  /// Has the file on disk, under its name.
  func finish() throws(ExitCode) {
    let filled = descriptor
    descriptor = -1
    try NewFile.close(filled, path)
    guard unsafe (overwriting ? rename(temporary, target) : link(temporary, target)) == 0 else {
      throw NewFile.failure(path, cannotCreate: true)
    }
    try NewFile.synchronizeDirectory(of: target)
  }

  deinit {
    if descriptor >= 0 { _ = close(descriptor) }
    NewFile.remove(temporary)
  }
}
