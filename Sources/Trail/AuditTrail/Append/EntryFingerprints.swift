// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

/// The fingerprints under which an entry is found.
struct EntryFingerprints {
  /// The fingerprint that makes entries exactly-once: of the record's identifier or the entry that an erasure erased,
  /// else of the receipt.
  ///
  /// If the entry is about one purchase of an app receipt, the receipt's fingerprint includes the original transaction.
  let receipt: UInt64?
  /// The fingerprint of the receipt, if the entry has an identifier too.
  let receiptBesideId: UInt64?
  let original: UInt64?
  let originalCheck: UInt32
  let transaction: UInt64?
  let customer: UInt64?
  let product: UInt64?

  /// Computes the fingerprints of the record with this number.
  ///
  /// A record that is passed alone would be copied with all its texts.
  init(_ records: Span<AuditRecord>, _ number: Int, _ key: IndexKey) {
    let purchase = records[number].facts.kind == .purchase ? records[number].facts.original : nil
    let byReceipt = records[number].facts.receipt.map {
      Self.fingerprint(receipt: $0, purchase: purchase.map(EntryText.encoded), key)
    }
    let byId =
      records[number].facts.id.map { Self.fingerprint(id: EntryText.encoded($0), key) }
      ?? records[number].facts.erased.map { Self.erasure(of: $0, key) }
    (receipt, receiptBesideId) = byId == nil ? (byReceipt, nil) : (byId, byReceipt)
    let checked = records[number].facts.original.map { original in
      EntryText.withEncoded(original) { key.checkedFingerprint(.original, $0) }
    }
    original = checked?.fingerprint
    originalCheck = checked?.check ?? 0
    transaction = records[number].facts.transaction.map { transaction in
      EntryText.withEncoded(transaction) { key.fingerprint(.transaction, $0) }
    }
    customer = records[number].customerToken.map { key.fingerprint(.customer, $0) }
    product = records[number].facts.product.map { product in
      EntryText.withEncoded(product) { key.fingerprint(.product, $0) }
    }
  }

  /// Computes the fingerprints of a stored entry.
  init(
    _ entry: Span<UInt8>, erasable: Span<UInt8>, _ keys: EntryIndexKeys, _ key: IndexKey
  ) throws(MalformedErasablePart) {
    func fingerprint(_ kind: IndexKind, _ range: Range<Int>?) -> UInt64? {
      range.map { key.fingerprint(kind, entry.extracting($0)) }
    }
    let byReceipt = keys.receipt.map { digest in
      let original = keys.isOf(.purchase, in: entry) ? keys.original.map { entry.bytes(in: $0) } : nil
      return Self.fingerprint(receipt: digest, purchase: original, key)
    }
    let byId =
      keys.id.map { Self.fingerprint(id: entry.bytes(in: $0), key) }
      ?? keys.erased.map { Self.erasure(of: $0, key) }
    (receipt, receiptBesideId) = byId == nil ? (byReceipt, nil) : (byId, byReceipt)
    let checked = keys.original.map { key.checkedFingerprint(.original, entry.extracting($0)) }
    original = checked?.fingerprint
    originalCheck = checked?.check ?? 0
    transaction = fingerprint(.transaction, keys.transaction)
    product = fingerprint(.product, keys.product)
    let token = erasable.isEmpty ? nil : try ErasablePart.tokenRange(in: erasable)
    customer = token.map { key.fingerprint(.customer, erasable.extracting($0)) }
  }

  /// Inserts the fingerprints that the entry has.
  func insert(into memory: inout MemtableRecords, at position: UInt64) {
    if let receipt { memory.insert(.receipt, receipt, position) }
    if let receiptBesideId { memory.insert(.receipt, receiptBesideId, position) }
    if let original { memory.insert(.original, original, position, check: originalCheck) }
    if let transaction { memory.insert(.transaction, transaction, position) }
    if let customer { memory.insert(.customer, customer, position) }
    // One record of a product for each bundle is enough, since many entries have the same product.
    if let product, memory.newest(.product, product).map({ $0 < position & ~255 }) ?? true {
      memory.insert(.product, product, position)
    }
  }

  /// Returns the fingerprint of an erasure in the index of receipts, which is computed from the erased entry's index.
  static func erasure(of erased: UInt64, _ key: IndexKey) -> UInt64 {
    var name = Array("erased ".utf8)
    name.append(bigEndian: erased)
    return key.fingerprint(.receipt, name)
  }

  /// Returns the fingerprint of a receipt's digest in the index of receipts.
  ///
  /// For one purchase of an app receipt, the digest is followed by the original transaction as the entry spells it.
  private static func fingerprint(
    receipt digest: SHA256Digest, purchase original: [UInt8]?, _ key: IndexKey
  ) -> UInt64 {
    guard let original else { return key.fingerprint(.receipt, digest) }
    return key.fingerprint(.receipt, digest.bytes + original)
  }

  /// Returns the fingerprint of an identifier, as the entry spells it, in the index of receipts.
  ///
  /// A prefix distinguishes identifiers from digests.
  static func fingerprint(id: [UInt8], _ key: IndexKey) -> UInt64 {
    key.fingerprint(.receipt, Array("record-id ".utf8) + id)
  }
}

extension EntryIndexKeys {
  /// Returns `true` if the entry is of this kind.
  func isOf(_ kind: EntryKind, in entry: Span<UInt8>) -> Bool {
    entry.bytes(in: self.kind).elementsEqual(kind.rawValue.utf8)
  }
}

extension Span<UInt8> {
  fileprivate func bytes(in range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for index in range { bytes.append(self[index]) }
    return bytes
  }
}
