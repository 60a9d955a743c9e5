// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptCrypto

/// The digests by which entries name a receipt, from its bytes alone: no signature is checked.
public struct ReceiptDigests: Sendable, Hashable {
  /// SHA-256 of what a signature of the receipt covers, the same for every spelling of it
  /// (`VerifiedReceipt.identity`); `nil` for bytes that are no receipt.
  public let identity: SHA256Digest?
  /// SHA-256 of the receipt without base64, JSON or white space around it; of the bytes as they are where they are no
  /// receipt.
  public let encoding: SHA256Digest

  /// Computes the digests of a receipt in any of the wrappings that a verifier takes.
  public init(of bytes: [UInt8]) {
    let receipt = try? UnverifiedReceipt(parsing: bytes)
    identity = receipt.map { SHA256Digest(of: $0.signedContent.span) }
    encoding = SHA256Digest(of: receipt?.encoded ?? bytes)
  }

  /// Indicates whether an entry is about this receipt: by its identity where the receipt's signature was found valid,
  /// else by its bytes.
  ///
  /// A file that contains no more than what a genuine receipt's signature covers has that receipt's identity as the
  /// digest of its bytes. An entry about such a file is not about the receipt.
  public func areNamed(in facts: EntryFacts) -> Bool {
    guard let receipt = facts.receipt else { return false }
    return receipt == encoding || receipt == identity && facts.encoding != receipt
  }
}

extension TrailView {
  /// The entries of a receipt in whatever spelling, newest first: the verdicts on it, without the purchases inside it.
  ///
  /// - Parameters:
  ///   - receipt: The digests of the receipt.
  ///   - before: Only entries with a smaller index, for the next page.
  ///   - limit: The greatest number of results.
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
