// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A hash of a Merkle tree of RFC 6962 section 2.1: 32 bytes of SHA-256.
public struct TreeHash: Sendable, Hashable {
  /// The length of a hash, in bytes.
  public static let byteCount = 32
}
