// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
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
  /// Returns the content of a transaction that is purchased or restored, and not finished; otherwise `nil`.
  let content: Content
  private let observer: Observer

  package typealias Content =
    @Sendable (PaymentTransaction.ID) async throws(DownloadError)
    -> [DownloadableContent]?
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
    try storage.forEachRecord(in: .downloads, limit: 256) {
      (stored) throws(DownloadError) in
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

  /// The started downloads, in the order of their transactions.
  package var downloads: [Download] {
    entries.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { snapshot($0) }
  }

  func snapshot(_ id: Download.ID) -> Download? {
    entries[id]?.snapshot(now: options.time.elapsed(), files: files)
  }

  // MARK: Storing

  /// Stores records. A `nil` record removes the stored one.
  func commit(_ records: [(id: Download.ID, record: DownloadRecord?)]) throws(DownloadError) {
    try requireOpen()
    let changes: [RecordChange] = records.map { id, record in
      if let record {
        .put(.downloads, key: id.rawValue, value: record.encodedJSON())
      } else {
        .remove(.downloads, key: id.rawValue)
      }
    }
    try DownloadError.wrapping(try storage.commit(changes))
  }

  func requireOpen() throws(DownloadError) {
    if isClosed { throw DownloadError(.closed, "The queue was closed.") }
  }

  /// Cancels the work on a download.
  func stopWork(_ id: Download.ID) {
    entries[id]?.active?.task.cancel()
    entries[id]?.active = nil
  }

  // MARK: Notifying

  /// Reports the current state of downloads.
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
    Task {
      while let news = takePendingUpdates() { await observer(news) }
    }
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
