// SPDX-License-Identifier: Apache-2.0

internal import CReceiptKit
internal import CommandOutput
internal import PolicyDocuments

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
  /// - Throws: ``DocumentError`` if it is NULL or its length is negative as a signed number.
  static func argument(
    _ bytes: UnsafeRawPointer?, _ length: Int, _ name: String, limit: Int
  ) throws(DocumentError) -> [UInt8] {
    guard length >= 0 else {
      throw DocumentError(.usage, "The length of \(name) is no length: more than half of the address space.")
    }
    guard let bytes = unsafe bytes else {
      guard length == 0 else {
        throw DocumentError(.usage, "\(name) is NULL, and its length is \(length).")
      }
      return []
    }
    return unsafe copy(bytes, length, limit: limit)
  }

  /// Gives a text, which is in pieces, to the caller, who frees it.
  ///
  /// - Returns: `false` if there is no memory for it.
  static func give(_ pieces: [[UInt8]], to result: UnsafeMutablePointer<receiptkit_text>) -> Bool {
    let length = pieces.reduce(0) { $0 + $1.count }
    guard length > 0 else { return true }
    guard let memory = unsafe malloc(length + 1) else { return false }
    var rest = unsafe UnsafeMutableRawBufferPointer(start: memory, count: length + 1)
    for piece in pieces {
      unsafe rest.copyBytes(from: piece)
      unsafe rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(piece.count))
    }
    unsafe rest[0] = 0
    unsafe result.pointee = receiptkit_text(bytes: memory.assumingMemoryBound(to: CChar.self), length: length)
    return true
  }
}
