// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
package import ReceiptCrypto

/// The digests by which entries name a receipt, computed only from its bytes: no signature is checked.
public struct ReceiptDigests: Sendable, Hashable {
  /// SHA-256 of the bytes that a signature of the receipt covers, which is the same for every spelling of the receipt
  /// (`VerifiedReceipt.identity`); `nil` if the bytes are not a receipt.
  package let identity: SHA256Digest?
  /// SHA-256 of the receipt without base64, JSON or white space around it; of all bytes if they are not a receipt.
  package let encoding: SHA256Digest

  /// Computes the digests of a receipt in any of the wrappings that a verifier accepts.
  public init(of bytes: [UInt8]) {
    let receipt = try? UnverifiedReceipt(parsing: bytes)
    identity = receipt.map { SHA256Digest(of: $0.signedContent.span) }
    encoding = SHA256Digest(of: receipt?.encoded ?? bytes)
  }

  /// Returns `true` if an entry is about this receipt, which it names by its identity if its signature was found valid.
  ///
  /// A file that contains only the bytes which a genuine receipt's signature covers has that receipt's identity as the
  /// digest of its bytes. An entry about such a file is not about the receipt, and one about the receipt is not about the
  /// file.
  package func areNamed(in facts: EntryFacts) -> Bool {
    guard let receipt = facts.receipt else { return false }
    return facts.encoding ?? receipt == encoding || receipt == identity && facts.encoding != receipt
  }
}

extension TrailView {
  /// Returns the entries of a receipt in any spelling, newest first: the verdicts on it, without the purchases inside
  /// it.
  ///
  /// - Parameters:
  ///   - receipt: The digests of the receipt.
  ///   - before: Only entries with a smaller index, for the next page.
  ///   - limit: The maximum number of results.
  /// - Returns: The entries.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  public func entries(receipt: ReceiptDigests, before: UInt64 = .max, limit: Int = .max) throws
    -> [RecordedEntry]
  {
    let found = try [receipt.identity, receipt.encoding].compactMap(\.self).flatMap { digest in
      try entries(receipt: digest, before: before, limit: limit, where: receipt.areNamed)
    }
    return Array(found.sorted { $0.index > $1.index }.prefix(limit))
  }
}
