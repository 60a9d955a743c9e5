// SPDX-License-Identifier: Apache-2.0

internal import CReceiptKit
internal import CommandOutput

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

/// Memory that the caller owns, or is given.
enum CallerMemory {
  /// Copies an input; of one that is longer than the limit no more than is needed to see that.
  static func copy(_ bytes: UnsafeRawPointer, _ length: Int, limit: Int) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: bytes, count: min(length, limit + 1)))
  }

  /// Copies an argument.
  ///
  /// - Throws: ``LibraryError`` if it is NULL or its length is negative as a signed number.
  static func argument(
    _ bytes: UnsafeRawPointer?, _ length: Int, _ name: String, limit: Int
  ) throws(LibraryError) -> [UInt8] {
    guard length >= 0 else {
      throw LibraryError(.usage, "The length of \(name) is no length: more than half of the address space.")
    }
    guard let bytes = unsafe bytes else {
      guard length == 0 else {
        throw LibraryError(.usage, "\(name) is NULL, and its length is \(length).")
      }
      return []
    }
    return unsafe copy(bytes, length, limit: limit)
  }

  /// Gives a text to the caller, who frees it.
  ///
  /// - Returns: `false` if there is no memory for it.
  static func give(_ text: [UInt8], to result: UnsafeMutablePointer<receiptkit_text>) -> Bool {
    guard !text.isEmpty else { return true }
    guard let memory = unsafe malloc(text.count + 1) else { return false }
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: memory, count: text.count + 1)
    unsafe bytes.copyBytes(from: text)
    unsafe bytes[text.count] = 0
    unsafe result.pointee = receiptkit_text(
      bytes: memory.assumingMemoryBound(to: CChar.self), length: text.count)
    return true
  }
}
