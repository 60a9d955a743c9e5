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

/// A call of POSIX that failed.
package struct SystemError: Error, Sendable, Hashable {
  /// The value of `errno`.
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The failure of the call just made.
  static var last: SystemError { SystemError(number: errno) }

  /// There is nothing under the path.
  package var isMissing: Bool { number == ENOENT }
  /// There is something under the path already.
  package var isExisting: Bool { number == EEXIST }
  /// The disk or the quota is full.
  package var isFull: Bool { number == ENOSPC || number == EDQUOT }
  /// A parent of the path is missing, or not a directory.
  package var isNoPlace: Bool { number == ENOENT || number == ENOTDIR }

  /// The error in the words of the system.
  package var reason: String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
