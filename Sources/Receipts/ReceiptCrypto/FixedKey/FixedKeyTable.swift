// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns the table of a key's multiples.
@safe
final class FixedKeyTable {
  /// The memory of a table in bytes, rounded up. 37 rows of 64 points of 64 bytes are 151,552 bytes. Two descriptions
  /// of the curve and rounding to pages add less than 20,000 bytes.
  static let byteCount = 171_552

  private let table: OpaquePointer

  /// Creates the table of a key; `nil` if the key is not on P-256 or OpenSSL fails.
  init?(_ key: PublicKey) {
    guard let backing = key.backing, backing.kind == .p256 else { return nil }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let table = unsafe COpenSSL_FixedKey_table_new(backing.key) else { return nil }
    unsafe self.table = table
  }

  deinit { unsafe COpenSSL_FixedKey_table_free(table) }

  /// Verifies as many signatures as there are answers, at most ``FixedKeyScratch/capacity``. Returns `false` if OpenSSL
  /// failed; the answers are then meaningless.
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

// The table does not change after its creation. OpenSSL reads a curve from several threads at once, as it does the one
// in every key.
extension FixedKeyTable: @unchecked Sendable {}
