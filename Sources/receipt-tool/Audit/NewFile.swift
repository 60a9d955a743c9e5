// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that must not be there yet, written whole and on disk when it is done.
enum NewFile {
  struct Failure: Error, CustomStringConvertible {
    let path: String
    let number: Int32
    var description: String {
      number == EEXIST ? "\(path) is there already" : "cannot write \(path): \(systemMessage(number))"
    }
  }

  /// Writes a file with these permissions from the first byte on; one that cannot be written whole is removed. A file
  /// that is there is only replaced when `overwriting`.
  static func write(
    _ contents: [UInt8], to path: String, mode: mode_t = 0o644, overwriting: Bool = false
  ) throws(Failure) {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL | O_NOFOLLOW)
    let descriptor = unsafe open(path, flags, mode)
    guard descriptor >= 0 else { throw Failure(path: path, number: errno) }
    guard writeAll(contents, to: descriptor), fsync(descriptor) == 0 || errno == EINVAL else {
      let failure = Failure(path: path, number: errno)
      close(descriptor)
      if !overwriting { remove(path) }
      throw failure
    }
    close(descriptor)
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func remove(_ path: String) { _ = unsafe unlink(path) }
}
