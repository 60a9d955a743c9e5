// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

/// The multiset hashes, by kind, of the index records that entries should have.
///
/// They are compared with those of the index.
struct IndexHashes {
  private(set) var byKind = [MultisetHash](repeating: MultisetHash(), count: IndexKind.allCases.count)
  private let key: IndexKey?
  private let points: MultisetHash.Points
  private let indexedSize: UInt64
  /// The products of the bundle, which has one index record for each.
  private var products: Set<UInt64> = []

  /// - Parameters:
  ///   - key: The key that fingerprints are computed with; if it is unknown, it is `nil` and nothing is hashed.
  ///   - points: The points at which the hashes are evaluated, random for each check.
  ///   - indexedSize: The number of entries whose records are in runs.
  init(_ key: IndexKey?, _ points: MultisetHash.Points, indexedSize: UInt64) {
    self.key = key
    self.points = points
    self.indexedSize = indexedSize
  }

  /// Adds the index records of an entry.
  ///
  /// Each bundle needs hashes of its own.
  mutating func add(
    _ entry: Span<UInt8>, erasable: [UInt8], _ keys: EntryIndexKeys, at index: UInt64
  ) {
    guard let key, index < indexedSize,
      let fingerprints = try? EntryFingerprints(entry, erasable: erasable.span, keys, key)
    else { return }
    add(.receipt, fingerprints.receipt, index)
    add(.receipt, fingerprints.receiptBesideId, index)
    add(.original, fingerprints.original, index, check: fingerprints.originalCheck)
    add(.transaction, fingerprints.transaction, index)
    add(.customer, fingerprints.customer, index)
    if let product = fingerprints.product, products.insert(product).inserted { add(.product, product, index) }
  }

  private mutating func add(
    _ kind: IndexKind, _ fingerprint: UInt64?, _ index: UInt64, check: UInt32 = 0
  ) {
    guard let fingerprint else { return }
    byKind[Int(kind.rawValue)].add(
      IndexRecord(fingerprint: fingerprint, index: index, check: check), of: kind, at: points)
  }

  /// Adds the hashes of other bundles.
  mutating func add(_ other: IndexHashes) {
    for kind in byKind.indices { byKind[kind].add(other.byKind[kind]) }
  }
}
