// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The keys under which the signed notes of a trail are stored.
enum TrailNotes {
  static let configuration: Int64 = 0
  static let checkpoint: Int64 = 1
  /// The first of the proofs of the entries that replaced keys.
  static let firstSuccession: Int64 = 2
  /// The texts of policies, by the first bits of their digests.
  static let policies: ClosedRange<Int64> = 1 << 62...Int64.max - 1
  /// The list of their digests, which the head vouches for.
  static let policyList: Int64 = 1 << 62 - 1

  static func policy(_ digest: SHA256Digest) -> Int64 {
    policies.lowerBound | Int64(truncatingIfNeeded: digest.words.0.bigEndian >> 2 & ~1)
  }
}
