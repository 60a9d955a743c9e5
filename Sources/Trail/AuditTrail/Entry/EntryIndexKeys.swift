// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

/// The values of an entry that indexes need.
///
/// Texts are ranges of its bytes, and are neither copied nor decoded.
///
/// The texts are as the entry spells them. Equal texts have one spelling (``EntryText/encoded(_:)``), so that they can
/// be hashed and compared without decoding.
package struct EntryIndexKeys: Sendable {
  package let time: Int64
  package let kind: Range<Int>
  package let id: Range<Int>?
  package let receipt: SHA256Digest?
  package let encoding: SHA256Digest?
  package let transaction: Range<Int>?
  package let original: Range<Int>?
  package let product: Range<Int>?
  package let verdict: RecordedVerdict?
  package let policy: SHA256Digest?
  /// The entry that an erasure erased.
  package let erased: UInt64?
  package let previous: UInt64?
  package let commitment: SHA256Digest?

  /// Reads the keys of an entry.
  ///
  /// It rejects lines in the wrong order or form, but does not check that every value is canonical;
  /// ``AuditEntry/init(parsing:)`` does.
  package init(_ bytes: Span<UInt8>) throws(MalformedEntry) {
    var reader = EntryReader()
    try reader.header(in: bytes)
    guard let time = try reader.instant("time ", in: bytes), let kind = try reader.value("kind ", in: bytes)
    else { throw reader.failure(.truncated, at: reader.index, "The entry has no time or no kind.") }
    self.time = time
    self.kind = kind
    id = try reader.value("id ", in: bytes)
    _ = try reader.value("format ", in: bytes)
    _ = try reader.value("notification ", in: bytes)
    _ = try reader.value("subtype ", in: bytes)
    receipt = try reader.digest("receipt ", in: bytes)
    encoding = try reader.digest("encoding ", in: bytes)
    transaction = try reader.value("transaction ", in: bytes)
    original = try reader.value("original ", in: bytes)
    product = try reader.value("product ", in: bytes)
    _ = try reader.value("bundle ", in: bytes)
    _ = try reader.value("environment ", in: bytes)
    _ = try reader.value("expires ", in: bytes)
    _ = try reader.value("revoked ", in: bytes)
    verdict = try reader.value("verdict ", in: bytes).flatMap { EntryReader.verdict($0, in: bytes) }
    _ = try reader.value("reason ", in: bytes)
    _ = try reader.value("signer ", in: bytes)
    _ = try reader.value("root ", in: bytes)
    policy = try reader.digest("policy ", in: bytes)
    while try reader.value("check ", in: bytes) != nil {}
    _ = try reader.value("key ", in: bytes)
    erased = try reader.number("erased ", in: bytes)
    _ = try reader.value("size ", in: bytes)
    _ = try reader.value("newest ", in: bytes)
    _ = try reader.value("count ", in: bytes)
    previous = try reader.number("previous ", in: bytes)
    commitment = try reader.digest("commitment ", in: bytes)
    try reader.end(in: bytes)
  }

  /// Reads the keys of an entry.
  package init(_ bytes: [UInt8]) throws(MalformedEntry) { try self.init(bytes.span) }
}
