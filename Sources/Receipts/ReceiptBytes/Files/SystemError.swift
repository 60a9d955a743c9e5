// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

/// The error of a POSIX call.
package struct SystemError: Error, Sendable, Hashable {
  /// The value of `errno`.
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The error of the call just made.
  static var last: SystemError { SystemError(number: errno) }

  /// `true` if the path does not exist.
  package var isMissing: Bool { number == ENOENT }
  /// `true` if the path already exists.
  package var isExisting: Bool { number == EEXIST }
  /// `true` if the disk or the quota is full.
  package var isFull: Bool { number == ENOSPC || number == EDQUOT }
  /// `true` if a component of the path is missing or is not a directory.
  package var isNoPlace: Bool { number == ENOENT || number == ENOTDIR }

  /// The system's description of the error.
  package var reason: String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
