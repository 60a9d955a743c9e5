// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex

/// Erasable parts whose keys are to be forgotten, with their index records.
struct ForgottenParts {
  /// The entries in ascending order, as they were added.
  private(set) var entries: [UInt64] = []
  private(set) var customers: [IndexRecord] = []

  /// Adds a part that cannot be read any more.
  mutating func add(_ index: UInt64) { entries.append(index) }

  /// Adds a part.
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
