// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Opens erasable parts, which are stored sealed.
struct ErasableParts: ~Copyable {
  private let rows: StoredRows
  private var keys: ErasureKeys
  private var cipher = AES256GCM()

  /// Reads through `reader`, which must show a single state.
  init(_ reader: any StorageReader) {
    rows = StoredRows(reader: reader)
    keys = ErasureKeys(reader)
  }

  /// Returns the bytes of an entry's erasable part; `nil` if its key was forgotten, which an erasure must confirm.
  mutating func bytes(
    at index: UInt64, _ stored: StoredEntry? = nil, lengths: [UInt8]? = nil, commitment: SHA256Digest
  ) throws -> [UInt8]? {
    guard let key = try keys.key(of: index) else { return nil }
    let sealed =
      try stored.map { try rows.erasable(of: $0, at: index) } ?? rows.erasable(at: index, lengths: lengths)
    return try open(sealed, key, at: index, commitment)
  }

  /// Returns the bytes of a sealed part that was read already.
  mutating func bytes(of sealed: [UInt8], at index: UInt64, commitment: SHA256Digest) throws -> [UInt8]? {
    try keys.key(of: index).map { try open(sealed, $0, at: index, commitment) }
  }

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

/// Erasable parts whose keys are to be forgotten, with their index records.
struct ForgottenParts {
  /// The entries in ascending order, as they were added.
  private(set) var entries: [UInt64] = []
  private(set) var customers: [IndexRecord] = []

  /// Adds a part that cannot be read any more.
  mutating func add(_ index: UInt64) { entries.append(index) }

  mutating func add(_ index: UInt64, _ part: Span<UInt8>, _ key: IndexKey) throws {
    add(index)
    guard let token = try ErasablePart.tokenRange(in: part) else { return }
    let fingerprint = key.fingerprint(.customer, part.extracting(token))
    customers.append(IndexRecord(fingerprint: fingerprint, index: index))
  }
}

extension TrailState {
  /// Forgets the keys of erasable parts, and removes the index records that name their customers.
  mutating func forget(_ forgotten: ForgottenParts, in writer: any StorageWriter) throws {
    try ErasureKeys.forget(forgotten.entries, in: writer)
    try index.remove(.customer, forgotten.customers, in: WritableIndexRows(base: writer))
    guard head.indexRoot != index.root else { return }
    head.indexRoot = index.root
    try writeHead(in: writer)
  }
}
