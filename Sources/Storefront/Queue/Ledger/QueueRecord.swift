// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored state of the queue itself.
struct QueueRecord: JSONObject {
  /// The layout of the records.
  var version: Int64 = 1
  /// Numbers below this one may have been assigned.
  var reserved: Int64 = 0
  var unknownFields: [JSONMember] = []

  static let key = "queue"
  static let presentVersion: Int64 = 1

  enum Field: String, CaseIterable { case version, reserved }

  static let fieldNames = JSONFieldNames<Field>(required: [.version, .reserved])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .version: try coder.code(&version)
    case .reserved: try coder.code(&reserved)
    }
  }

  init(reserved: SequenceNumber) { self.reserved = reserved.value }

  /// Reads it; `nil` for an empty storage.
  static func read(from storage: any RecordStorage) throws(PaymentQueueError) -> QueueRecord? {
    let value: [UInt8]?
    do { value = try storage.value(of: key, in: .queue) } catch { throw PaymentQueueError(error) }
    guard let value else { return nil }
    let place = "\(RecordCollection.queue) \(key)"
    let record: QueueRecord
    do {
      record = try QueueRecord(json: value, part: "record", limits: .standard)
    } catch {
      throw RecordFault.error(error.description, at: place)
    }
    guard record.version == presentVersion else {
      throw PaymentQueueError(
        .unsupported, at: place,
        "The records are of version \(record.version); this build knows version \(presentVersion).")
    }
    guard (0...SequenceNumber.greatest.value).contains(record.reserved) else {
      throw RecordFault.error("$.reserved is no number of a transaction", at: place)
    }
    return record
  }
}

/// Errors about damaged records.
enum RecordFault {
  static func error(_ message: String, at place: String) -> PaymentQueueError {
    PaymentQueueError(.corrupt, at: place, "A record is damaged: \(message). Restore it from a backup.")
  }
}
