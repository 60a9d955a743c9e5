// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

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

  init(_ record: AuditRecord, _ key: IndexKey) {
    func fingerprint(_ kind: IndexKind, _ text: String?) -> UInt64? {
      text.map { text in EntryText.withEncoded(text) { key.fingerprint(kind, $0) } }
    }
    let purchase = record.facts.kind == .purchase ? record.facts.original : nil
    let byReceipt = record.facts.receipt.map {
      Self.fingerprint(receipt: $0, purchase: purchase.map(EntryText.encoded), key)
    }
    let byId =
      record.facts.id.map { key.fingerprint(.receipt, Self.name(id: EntryText.encoded($0))) }
      ?? record.facts.erased.map { Self.erasure(of: $0, key) }
    (receipt, receiptBesideId) = byId == nil ? (byReceipt, nil) : (byId, byReceipt)
    let checked = record.facts.original.map { original in
      EntryText.withEncoded(original) { key.checkedFingerprint(.original, $0) }
    }
    original = checked?.fingerprint
    originalCheck = checked?.check ?? 0
    transaction = fingerprint(.transaction, record.facts.transaction)
    customer = record.customerToken.map { key.fingerprint(.customer, $0.utf8.span) }
    product = fingerprint(.product, record.facts.product)
  }

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
      keys.id.map { key.fingerprint(.receipt, Self.name(id: entry.bytes(in: $0))) }
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

  /// Returns the fingerprint of a receipt's digest, followed by the original transaction for one purchase of it.
  private static func fingerprint(
    receipt digest: SHA256Digest, purchase original: [UInt8]?, _ key: IndexKey
  ) -> UInt64 {
    guard let original else { return key.fingerprint(.receipt, digest) }
    return key.fingerprint(.receipt, digest.bytes + original)
  }

  /// Returns the name of an identifier in the index of receipts, whose prefix distinguishes it from digests.
  static func name(id: [UInt8]) -> [UInt8] { Array("record-id ".utf8) + id }
}

extension EntryIndexKeys {
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
