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
    let isThere = unsafe stat(path, &status) == 0
    guard overwriting || !isThere else {
      errno = EEXIST
      throw failure(path)
    }
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(path, cannotCreate: true) }
      return try fill(descriptor, path, contents)
    }
    let target = isThere ? resolved(path) : path
    let temporary = "\(target).\(UInt64.random(in: .min ... .max)).new"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = unsafe open(temporary, flags, mode)
    guard descriptor >= 0 else { throw failure(path, cannotCreate: true) }
    defer { remove(temporary) }
    if isThere { _ = fchmod(descriptor, status.st_mode & 0o777) }
    try fill(descriptor, path, contents)
    guard unsafe (overwriting ? rename(temporary, target) : link(temporary, target)) == 0 else {
      throw failure(path, cannotCreate: true)
    }
    try synchronizeDirectory(of: target)
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func remove(_ path: String) { _ = unsafe unlink(path) }

  private static func fill(_ descriptor: Int32, _ path: String, _ contents: [UInt8]) throws(ExitCode) {
    // A device or pipe cannot be synced.
    let isWritten = writeAll(contents, to: descriptor) && (fsync(descriptor) == 0 || errno == EINVAL)
    let number = errno
    guard close(descriptor) == 0, isWritten else {
      if !isWritten { errno = number }
      throw failure(path)
    }
  }

  private static func synchronizeDirectory(of path: String) throws(ExitCode) {
    let end = path.lastIndex(of: "/")
    let descriptor = unsafe open(
      end.map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    guard descriptor >= 0, fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path) }
  }

  private static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  private static func failure(_ path: String, cannotCreate: Bool = false) -> ExitCode {
    let number = errno
    if number == EEXIST { return ToolExit.failure(ToolExit.cannotCreate, "\(path) is there already") }
    return ToolExit.failure(
      cannotCreate && number != ENOSPC ? ToolExit.cannotCreate : ToolExit.inputOutput,
      "cannot write \(path): \(systemMessage(number))")
  }
}
