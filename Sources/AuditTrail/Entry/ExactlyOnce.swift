// SPDX-License-Identifier: Apache-2.0

/// What makes a record a repeat of an earlier one.
///
/// A record is entered once for each receipt, verdict and policy; for the records that follow the verdict on an app
/// receipt their kind and original transaction (the transaction, where a receipt of Xcode states no original) count
/// too. What does not count: the time, the reason, what checkers said. A record without a receipt (an erasure, an
/// anchor) is never a repeat.
///
/// The key is SHA-256 of: the kind, line feed; the receipt's digest, 32 bytes; the original transaction, line feed;
/// the verdict's word, line feed; the policy's digest. Texts are as the entry spells them, absent values are empty,
/// so that no two different combinations are the same bytes.
package enum ExactlyOnce {
  /// The key of a record; `nil` for one that is never a repeat.
  package static func key(_ facts: EntryFacts) -> SHA256Digest? {
    guard let receipt = facts.receipt else { return nil }
    var bytes = EntryText.encoded(facts.kind.rawValue)
    return key(
      &bytes, receipt, facts.verdict, facts.policy,
      original: { bytes in bytes += EntryText.encoded(facts.original ?? facts.transaction ?? "") })
  }

  /// The key of an entry; `nil` for one that is never a repeat.
  package static func key(_ keys: EntryIndexKeys, in entry: Span<UInt8>) -> SHA256Digest? {
    guard let receipt = keys.receipt else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160)
    for index in keys.kind { bytes.append(entry[index]) }
    return key(
      &bytes, receipt, keys.verdict, keys.policy,
      original: { bytes in
        for index in keys.original ?? keys.transaction ?? 0..<0 { bytes.append(entry[index]) }
      })
  }

  private static func key(
    _ bytes: inout [UInt8], _ receipt: SHA256Digest, _ verdict: RecordedVerdict?, _ policy: SHA256Digest?,
    original: (inout [UInt8]) -> Void
  ) -> SHA256Digest {
    bytes.append(UInt8(ascii: "\n"))
    receipt.append(to: &bytes)
    original(&bytes)
    bytes.append(UInt8(ascii: "\n"))
    if let verdict { bytes.append(contentsOf: verdict.rawValue.utf8) }
    bytes.append(UInt8(ascii: "\n"))
    policy?.append(to: &bytes)
    return SHA256Digest(of: bytes)
  }
}
