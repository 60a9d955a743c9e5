// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// The records of a store in its storage. Errors of the storage become errors of the store.
struct StoredRecords: Sendable {
  /// The greatest number of records that are in memory at once.
  static let pageSize = 256

  let storage: any RecordStorage

  func value(of key: String, in collection: RecordCollection) throws(LocalStoreError) -> [UInt8]? {
    try LocalStoreError.wrapping(try storage.value(of: key, in: collection))
  }

  func row<Row: JSONObject>(_ key: String, in collection: RecordCollection) throws(LocalStoreError) -> Row? {
    guard let bytes = try value(of: key, in: collection) else { return nil }
    return try Self.decode(bytes, at: "\(collection.rawValue)/\(key)")
  }

  func records(
    in collection: RecordCollection, after key: String?, limit: Int = StoredRecords.pageSize
  ) throws(LocalStoreError) -> [StoredRecord] {
    try LocalStoreError.wrapping(try storage.records(in: collection, after: key, limit: limit))
  }

  func forEach(
    in collection: RecordCollection, _ body: (StoredRecord) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    try storage.forEachRecord(in: collection, limit: Self.pageSize, body)
  }

  /// The records whose keys begin with a part, after a position. The part is removed from the keys.
  func records(
    in collection: RecordCollection, with part: String, after position: String? = nil,
    limit: Int = StoredRecords.pageSize
  ) throws(LocalStoreError) -> [StoredRecord] {
    let prefix = StoreKey.prefix(part)
    return try records(in: collection, after: prefix + (position ?? ""), limit: limit)
      .prefix { $0.key.hasPrefix(prefix) }
      .map { StoredRecord(key: String($0.key.dropFirst(prefix.count)), value: $0.value) }
  }

  /// Calls `body` with each record whose key begins with a part. The part is removed from the keys.
  func forEach(
    in collection: RecordCollection, with part: String,
    _ body: (StoredRecord) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    var page: [StoredRecord] = []
    repeat {
      page = try records(in: collection, with: part, after: page.last?.key)
      for record in page { try body(record) }
    } while page.count == Self.pageSize
  }

  static func decode<Record: JSONObject>(_ bytes: [UInt8], at place: String) throws(LocalStoreError) -> Record
  {
    do { return try Record(json: bytes, part: "record", limits: .standard) } catch {
      throw LocalStoreError(error, at: place)
    }
  }
}

extension LocalStoreError: StorageFailure {
  init(_ error: RecordStorageError) {
    self.init(error.code == .corrupt ? .corrupt : .storage, at: error.place, error.description)
  }

  /// Calls the signer.
  static func signing<Value>(
    _ call: @autoclosure () throws(SigningError) -> Value
  ) throws(LocalStoreError) -> Value {
    do { return try call() } catch { throw LocalStoreError(error) }
  }

  init(_ error: SigningError) { self.init(.signing, at: error.place, error.message) }

  init(_ error: SubscriptionError) {
    switch error.code {
    case .unknownSubscription, .unknownTransaction, .unknownProduct:
      self.init(.notFound, at: error.place, error.message)
    case .notActive, .alreadyRefunded, .notRefunded, .notEligible, .familyShared, .invalidValue:
      self.init(.refused, at: error.place, error.message)
    }
  }

  init(_ error: MalformedReceipt, at place: String) {
    self.init(.corrupt, at: place, "The record is not what a store has written: \(error.description)")
  }
}
