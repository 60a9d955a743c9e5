// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The in-memory state of a started download.
struct DownloadEntry {
  var record: DownloadRecord
  /// The length of its partial file.
  var receivedByteCount: Int64 = 0
  /// The work on the download, if it is active.
  var active: Active?
  /// The number of restarts since the download was started, because its content or its file changed.
  var restartCount = 0

  struct Active {
    let work: DownloadWork
    let task: Task<Void, Never>
    let began: Duration
    let beganAtByteCount: Int64
  }

  init(_ record: DownloadRecord) { self.record = record }

  /// The name of its files: a digest, because the identifier may contain characters that are not allowed in a file
  /// name.
  var fileName: String { Hexadecimal.encode(Digest.hash(Array(record.id.rawValue.utf8), using: .sha256)) }

  func snapshot(now: Duration, files: any DownloadFiles) -> Download {
    var download = Download(record)
    download.receivedByteCount = receivedByteCount
    download.timeRemaining = timeRemaining(of: record.content.contentLength, now: now)
    switch record.state {
    case .paused: download.state = .paused
    case .finished:
      download.state = .finished
      download.receivedByteCount = record.content.contentLength
      download.contentPath = files.path(of: .complete(fileName))
    case .failed:
      download.state = .failed
      download.error = record.error?.value
    default: download.state = active == nil ? .waiting : .active
    }
    return download
  }

  /// The estimated time at the rate since it became active; `nil` until bytes were received.
  private func timeRemaining(of length: Int64, now: Duration) -> Duration? {
    guard let active, now > active.began, receivedByteCount > active.beganAtByteCount else { return nil }
    let share = Double(length - receivedByteCount) / Double(receivedByteCount - active.beganAtByteCount)
    let seconds = (now - active.began) / .seconds(1) * share
    return .milliseconds(Int64(min(max(seconds * 1000, 0), 1e15)))
  }
}

/// One run of work on a download. The results of earlier runs on the same download are ignored.
struct DownloadWork: Hashable {
  let id: Download.ID
  let number: UInt64
}

extension Download {
  /// A waiting download.
  init(_ record: DownloadRecord) {
    self.init(
      transaction: PaymentTransaction.ID(rawValue: record.transaction), index: record.index,
      content: record.content)
  }
}

extension DownloadRecord {
  init(_ download: Download) {
    self.init(
      transaction: download.transaction.rawValue, index: download.index, content: download.content,
      state: .waiting)
  }

  /// Reads a record.
  init(_ stored: StoredRecord) throws(DownloadError) {
    do throws(MalformedReceipt) {
      try self.init(json: stored.value, part: "download record", limits: .standard)
    } catch {
      throw Self.corrupt(stored.key, error.description)
    }
    if case .unknown = state { throw Self.corrupt(stored.key, "its state cannot be right") }
    guard id.rawValue == stored.key, index >= 0 else {
      throw Self.corrupt(stored.key, "its key cannot be right")
    }
  }

  var id: Download.ID { Download.ID(PaymentTransaction.ID(rawValue: transaction), index) }

  private static func corrupt(_ key: String, _ what: String) -> DownloadError {
    DownloadError(
      .corrupt, at: "\(RecordCollection.downloads.rawValue)/\(key)",
      "A record is damaged: \(what). Restore it from a backup.")
  }
}

extension SavedError {
  init(_ error: DownloadError) {
    self.init(code: error.code.rawValue, place: error.place, message: error.message)
  }

  var value: DownloadError {
    DownloadError(DownloadError.Code(rawValue: code) ?? .unreachable, at: place, message)
  }
}
