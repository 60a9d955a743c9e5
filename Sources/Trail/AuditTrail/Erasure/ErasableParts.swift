// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Opens erasable parts, which are stored sealed.
struct ErasableParts: ~Copyable {
  private let rows: StoredRows
  private var keys: ErasureKeys
  private var cipher = AES256GCM()

  /// Reads through `reader`, which must be of one state.
  init(_ reader: any StorageReader) {
    rows = StoredRows(reader: reader)
    keys = ErasureKeys(reader)
  }

  /// The bytes of the part that an entry commits to; `nil` if its key was forgotten, which an erasure must confirm.
  ///
  /// - Parameters:
  ///   - index: The entry.
  ///   - stored: Its rows, where they were read already.
  ///   - lengths: The lengths in its bundle, where they were read already.
  ///   - commitment: What it commits to.
  /// - Returns: The bytes.
  /// - Throws: ``AuditError/Code/tampered`` where what is stored is not that part; ``StorageError``.
  mutating func bytes(
    at index: UInt64, _ stored: StoredEntry? = nil, lengths: [UInt8]? = nil, commitment: SHA256Digest
  ) throws -> [UInt8]? {
    guard let key = try keys.key(of: index) else { return nil }
    let sealed =
      try stored.map { try rows.erasable(of: $0, at: index) } ?? rows.erasable(at: index, lengths: lengths)
    return try open(sealed, key, at: index, commitment)
  }

  /// The same of a part that was read already.
  mutating func bytes(of sealed: [UInt8], at index: UInt64, commitment: SHA256Digest) throws -> [UInt8]? {
    try keys.key(of: index).map { try open(sealed, $0, at: index, commitment) }
  }

  /// Indicates whether the key of an entry's part is there.
  mutating func hasKey(of index: UInt64) throws -> Bool { try keys.key(of: index) != nil }

  private mutating func open(
    _ sealed: [UInt8], _ key: ErasureKeyTree.Secret, at index: UInt64, _ commitment: SHA256Digest
  ) throws -> [UInt8] {
    guard let bytes = cipher.open(sealed.span, key: key), SHA256Digest(of: bytes) == commitment else {
      throw AuditError(
        .tampered, at: "entry \(index)",
        "Its erasable part is not the one that the entry commits to; restore it from a backup.")
    }
    return bytes
  }
}
