// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

/// The rule by which a record is a repeat of an earlier one.
///
/// A record with an identifier is entered once for each kind and identifier. Any other record is entered once for each
/// receipt, verdict and policy, however the receipt is spelled. For the records that follow the verdict on a receipt
/// with several purchases, their kind, original transaction and product count too: one order at Google Play may contain
/// several products. If a receipt of Xcode states no original transaction, the transaction counts instead. The time,
/// the reason and the checkers' answers do not count. A record with neither an identifier nor a receipt (an erasure, an
/// anchor) is never a repeat.
///
/// The key of a record with an identifier is SHA-256 of: line feed; the kind, line feed; the identifier.
///
/// The key of any other record is SHA-256 of: the kind, line feed; the receipt's digest, 32 bytes; 1 if that is the
/// digest of the receipt's encoding, else 0; the original transaction, line feed; the verdict's word, line feed; the
/// policy's digest after a 1, or a 0; for a purchase its product.
///
/// The keys are compared and never stored: both are computed when a record is compared with an entry.
///
/// Texts are spelled as in the entry, and absent values are empty, so that no two different combinations have the same
/// bytes. The first 1 or 0 distinguishes a receipt from a file that contains only what the receipt's signature covers.
package enum ExactlyOnce {
  /// Returns the key of a record; `nil` if it is never a repeat.
  package static func key(_ facts: EntryFacts) -> SHA256Digest? {
    let kind = EntryText.encoded(facts.kind.rawValue)
    if let id = facts.id { return key(kind[...], id: EntryText.encoded(id)[...]) }
    return key(
      kind[...], facts.receipt, facts.encoding, facts.verdict, facts.policy,
      original: EntryText.encoded(facts.original ?? facts.transaction ?? "")[...],
      product: facts.kind == .purchase ? EntryText.encoded(facts.product ?? "")[...] : [])
  }

  /// Returns the key of an entry; `nil` if it is never a repeat.
  package static func key(_ keys: EntryIndexKeys, in entry: [UInt8]) -> SHA256Digest? {
    if let id = keys.id { return key(entry[keys.kind], id: entry[id]) }
    return key(
      entry[keys.kind], keys.receipt, keys.encoding, keys.verdict, keys.policy,
      original: entry[keys.original ?? keys.transaction ?? 0..<0],
      product: keys.isOf(.purchase, in: entry.span) ? entry[keys.product ?? 0..<0] : [])
  }

  private static func key(_ kind: ArraySlice<UInt8>, id: ArraySlice<UInt8>) -> SHA256Digest {
    // No kind is empty, so no other key's bytes begin with a line feed.
    SHA256Digest(of: [UInt8(ascii: "\n")] + kind + [UInt8(ascii: "\n")] + id)
  }

  private static func key(
    _ kind: ArraySlice<UInt8>, _ receipt: SHA256Digest?, _ encoding: SHA256Digest?,
    _ verdict: RecordedVerdict?,
    _ policy: SHA256Digest?, original: ArraySlice<UInt8>, product: ArraySlice<UInt8>
  ) -> SHA256Digest? {
    guard let receipt else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160)
    bytes += kind
    bytes.append(UInt8(ascii: "\n"))
    receipt.append(to: &bytes)
    bytes.append(encoding == receipt ? 1 : 0)
    bytes += original
    bytes.append(UInt8(ascii: "\n"))
    if let verdict { bytes.append(contentsOf: verdict.rawValue.utf8) }
    bytes.append(UInt8(ascii: "\n"))
    // Without this byte, a product could begin like the digest of a policy.
    bytes.append(policy == nil ? 0 : 1)
    policy?.append(to: &bytes)
    bytes += product
    return SHA256Digest(of: bytes)
  }
}
