// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored form of a download. The number of received bytes is the partial file's length.
struct DownloadRecord: JSONObject, Sendable, Hashable {
  var transaction = ""
  var index: Int64 = 0
  var content = WireContent()
  var state = SavedState(rawValue: "")
  /// The entity tag of the content that the partial file belongs to.
  var validator: String?
  var error: SavedError?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transaction, index, content, state, validator, error }
  static let fieldNames = JSONFieldNames<Field>(required: [.transaction, .index, .content, .state])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transaction: try coder.code(&transaction)
    case .index: try coder.code(&index)
    case .content: try coder.code(&content)
    case .state: try coder.code(&state)
    case .validator: try coder.code(&validator)
    case .error: try coder.code(&error)
    }
  }
}

extension DownloadRecord {
  static let collection = RecordCollection(rawValue: "downloads")

  init(_ download: Download) {
    transaction = download.transaction.rawValue
    index = Int64(download.index)
    content = WireContent(download.content)
    state = .waiting
  }

  /// Reads a record.
  init(_ stored: StoredRecord) throws(DownloadError) {
    do throws(MalformedReceipt) {
      try self.init(json: stored.value, part: "download record", limits: .standard)
    } catch {
      throw Self.corrupt(stored.key, error.description)
    }
    guard SavedState.all.contains(state), id.rawValue == stored.key, index >= 0 else {
      throw Self.corrupt(stored.key, "its state or its key cannot be right")
    }
  }

  var id: Download.ID { Download.ID(PaymentTransaction.ID(rawValue: transaction), Int(clamping: index)) }

  private static func corrupt(_ key: String, _ what: String) -> DownloadError {
    DownloadError(
      .corrupt, at: "\(collection.rawValue)/\(key)", "A record is damaged: \(what). Restore it from a backup."
    )
  }
}

/// The stored state of a download. An active one is stored as waiting.
struct SavedState: JSONEnumeration, Sendable, Hashable {
  let rawValue: String

  static let waiting = SavedState(rawValue: "waiting")
  static let paused = SavedState(rawValue: "paused")
  static let finished = SavedState(rawValue: "finished")
  static let failed = SavedState(rawValue: "failed")

  static let all: Set<SavedState> = [.waiting, .paused, .finished, .failed]
}

/// A ``DownloadError`` as JSON.
struct SavedError: WireForm, Hashable {
  var code = ""
  var place = ""
  var message = ""
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case code, place, message }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .code: try coder.code(&code)
    case .place: try coder.code(&place)
    case .message: try coder.code(&message)
    }
  }
}

extension SavedError {
  init(_ value: DownloadError) {
    code = value.code.rawValue
    place = value.place
    message = value.message
  }

  var value: DownloadError {
    DownloadError(DownloadError.Code(rawValue: code) ?? .unreachable, at: place, message)
  }
}
