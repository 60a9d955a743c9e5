// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP

/// The downloads of a payment queue. Each change is stored before it is reported, so downloads continue after a
/// relaunch.
///
/// All file operations run on this actor, so a late response to a cancelled download never reaches another file.
package actor DownloadQueue {
  let options: DownloadOptions
  let storage: any RecordStorage
  let files: any DownloadFiles
  let fetcher: ContentFetcher
  let content: Content
  private let observer: Observer

  package typealias Content =
    @Sendable (PaymentTransaction.ID) async throws(DownloadError) -> [DownloadableContent]?
  /// Receives the current state of downloads. Calls do not overlap.
  package typealias Observer = @Sendable ([Download]) async -> Void

  var entries: [Download.ID: DownloadEntry] = [:]
  var workCount: UInt64 = 0
  private(set) var isClosed = false
  private var pendingUpdates: [Download] = []
  private var isNotifying = false

  /// Reads the downloads from a storage. ``begin()`` starts work on them.
  package init(
    options: DownloadOptions, storage: any RecordStorage, files: any DownloadFiles,
    content: @escaping Content, observer: @escaping Observer
  ) throws(DownloadError) {
    self.options = options
    self.storage = storage
    self.files = files
    self.content = content
    self.observer = observer
    fetcher = ContentFetcher(transport: options.transport, retry: options.retry, time: options.time)
    var found: [Download.ID: DownloadEntry] = [:]
    try storage.forEachRecord(in: .downloads, limit: 256) { (stored) throws(DownloadError) in
      var entry = DownloadEntry(try DownloadRecord(stored))
      // An error here is ignored, because it is reported when the file is written.
      let byteCount = (try? files.byteCount(of: .partial(entry.fileName))) ?? nil
      entry.receivedByteCount = byteCount ?? 0
      found[entry.record.id] = entry
    }
    entries = found
  }

  /// Removes the downloads of finished transactions, and starts work on waiting downloads.
  package func begin() async throws(DownloadError) {
    let known = Set(entries.values.map(\.fileName))
    for name in try files.partialNames() where !known.contains(name) { try? files.remove(.partial(name)) }
    for transaction in Set(entries.values.map { PaymentTransaction.ID(rawValue: $0.record.transaction) }) {
      if try await content(transaction) == nil { try forget(transaction) }
    }
    schedule()
  }

  /// Stops all work. Active downloads continue after a relaunch.
  package func close() {
    isClosed = true
    for id in entries.keys { stopWork(id) }
    pendingUpdates = []
  }

  // MARK: Reading

  package var downloads: [Download] {
    entries.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { snapshot($0) }
  }

  func snapshot(_ id: Download.ID) -> Download? {
    entries[id]?.snapshot(now: options.time.elapsed(), files: files)
  }

  // MARK: Storing

  func commit(_ records: [DownloadRecord], removing ids: Set<Download.ID> = []) throws(DownloadError) {
    try requireOpen()
    let changes =
      records.map { RecordChange.put(.downloads, key: $0.id.rawValue, value: $0.encodedJSON()) }
      + ids.map { RecordChange.remove(.downloads, key: $0.rawValue) }
    try DownloadError.wrapping(try storage.commit(changes))
  }

  func requireOpen() throws(DownloadError) {
    if isClosed { throw DownloadError(.closed, "The queue was closed.") }
  }

  func stopWork(_ id: Download.ID) {
    entries[id]?.active?.task.cancel()
    entries[id]?.active = nil
  }

  // MARK: Notifying

  func report(_ ids: [Download.ID]) { notify(ids.compactMap { snapshot($0) }) }

  /// Reports states of downloads. A slow observer receives only the latest state.
  func notify(_ downloads: [Download]) {
    for download in downloads {
      if let place = pendingUpdates.firstIndex(where: { $0.id == download.id }) {
        pendingUpdates[place] = download
      } else {
        pendingUpdates.append(download)
      }
    }
    guard !isNotifying, !pendingUpdates.isEmpty else { return }
    isNotifying = true
    Task { while let news = takePendingUpdates() { await observer(news) } }
  }

  private func takePendingUpdates() -> [Download]? {
    defer { pendingUpdates = [] }
    isNotifying = !pendingUpdates.isEmpty
    return pendingUpdates.isEmpty ? nil : pendingUpdates
  }
}

extension DownloadError: StorageFailure {
  init(_ error: RecordStorageError) {
    self.init(.storage, at: error.place, "\(error.code.rawValue): \(error.message)")
  }
}

extension DownloadEntry {
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
