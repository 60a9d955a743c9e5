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
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The error of the call just made.
  static var last: SystemError { SystemError(number: errno) }

  package var isMissing: Bool { number == ENOENT }
  /// The name exists; for a directory that another one should replace, that it is not empty.
  package var isExisting: Bool { number == EEXIST || number == ENOTEMPTY }
  package var isFull: Bool { number == ENOSPC || number == EDQUOT }
  package var isNoPlace: Bool { number == ENOENT || number == ENOTDIR }

  package var reason: String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
