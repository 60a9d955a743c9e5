// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import ReceiptSigning

/// The records of a store in its storage. Errors of the storage become errors of the store.
package struct StoredRecords: Sendable {
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
    in collection: RecordCollection, with part: String, _ body: (StoredRecord) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    var page: [StoredRecord] = []
    repeat {
      page = try records(in: collection, with: part, after: page.last?.key)
      for record in page { try body(record) }
    } while page.count == Self.pageSize
  }

  package static func decode<Record: JSONObject>(
    _ record: StoredRecord, in collection: RecordCollection
  ) throws(LocalStoreError) -> Record {
    try decode(record.value, at: "\(collection.rawValue)/\(record.key)")
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

/// Compound keys.
package enum StoreKey {
  /// Joins parts with slashes. Characters other than letters, digits, hyphens, dots and underscores are escaped, so
  /// that different parts never give the same key.
  package static func joined(_ parts: String...) -> String {
    parts.map { escaped($0) }.joined(separator: "/")
  }

  /// The prefix of all keys with this first part.
  package static func prefix(_ part: String) -> String { escaped(part) + "/" }

  /// A number with leading zeros, so that keys sort by number.
  package static func number(_ number: Int64, digits count: Int = 16) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  /// A key that sorts by date, in milliseconds, and then by number.
  package static func dated(_ date: Timestamp, _ number: Int64) -> String {
    joined(Self.number(Int64(date.wholeMilliseconds)), Self.number(number))
  }

  /// A key that sorts by date, in milliseconds from 1970 on, and then by subscription.
  static func due(_ date: Timestamp, _ subscription: String) -> String {
    joined(number(Int64(max(0, date.wholeMilliseconds))), subscription)
  }

  private static func escaped(_ part: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(part.utf8.count)
    for byte in part.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        text.append(byte)
      default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension StoreHeader {
  static let key = "store"
  static let currentVersion: Int64 = 4
}

extension StoreSaleRecord {
  package var identifier: String { transaction.transactionId ?? "" }
  package var originalIdentifier: String { transaction.originalTransactionId ?? "" }

  /// The record in the storage: JSON, and the packed receipt. The receipt usually contains the transaction in its
  /// present state.
  func record(_ texts: inout SharedTexts) -> [UInt8] {
    guard let receipt else { return encodedJSON() }
    var fields = self
    fields.receipt = nil
    let known = String(decoding: transaction.encodedJSON(), as: UTF8.self)
    return PackedText.joined(fields.encodedJSON(), PackedText.pack(receipt, &texts, known: known))
  }
}

extension SignedNotification: Identifiable {
  /// The ``number``.
  public var id: Int64 { number }

  /// The record in the outbox: JSON, and the packed text. `receipt` is stored with the transaction.
  func record(_ texts: inout SharedTexts, receipt: String? = nil) -> [UInt8] {
    var fields = self
    fields.signedPayload = ""
    return PackedText.joined(fields.encodedJSON(), PackedText.pack(signedPayload, &texts, known: receipt))
  }
}
