// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns the table of one key's multiples.
@safe
final class FixedKeyTable {
  /// The memory of a table, rounded up: 37 rows of 64 points of 64 bytes are 151,552 bytes; two
  /// descriptions of the curve and what rounding to pages adds come to less than 20,000.
  static let byteCount = 171_552

  private let table: OpaquePointer

  /// `nil` where OpenSSL cannot make a table of such a key.
  init?(_ key: PublicKey) {
    guard let backing = key.backing, backing.kind == .p256 else { return nil }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let table = unsafe COpenSSL_FixedKey_table_new(backing.key) else { return nil }
    unsafe self.table = table
  }

  deinit { unsafe COpenSSL_FixedKey_table_free(table) }

  /// Verifies as many signatures as there are answers, at most ``FixedKeyScratch/capacity``. `false` where
  /// OpenSSL failed: then the answers say nothing.
  func verify(
    _ signatures: UnsafePointer<UInt8>, _ digests: UnsafePointer<UInt8>,
    into answers: UnsafeMutableBufferPointer<Bool>
  ) -> Bool {
    guard let start = answers.baseAddress, let scratch = FixedKeyScratchPool.shared.take() else {
      return false
    }
    ErrorQueue.clear()
    let done = unsafe COpenSSL_FixedKey_verify(
      table, scratch.pointer, signatures, digests, answers.count, start)
    if !done { ErrorQueue.clear() }
    FixedKeyScratchPool.shared.giveBack(scratch)
    return done
  }
}

// The table is never changed once made, and OpenSSL reads a curve from several threads at once, as it does the
// one inside every key.
extension FixedKeyTable: @unchecked Sendable {}
