// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptHTTP

/// Downloads and what has become of them. They are stored before anybody hears of them, so that they go on after a
/// relaunch.
///
/// All work on files is done here, one step after the other: nothing that a download was told before it was cancelled
/// reaches the file of another.
package actor DownloadQueue {
  let options: DownloadOptions
  let storage: any RecordStorage
  let files: any DownloadFiles
  let fetcher: ContentFetcher
  let permission: any DownloadPermission

  var entries: [Download.ID: DownloadEntry] = [:]
  var workCount: UInt64 = 0
  private(set) var isClosed = false
  private var untold: [Download] = []
  private var isTelling = false

  /// Opens the downloads of a storage. ``begin()`` lets them go on.
  package init(
    options: DownloadOptions, storage: any RecordStorage, files: any DownloadFiles,
    permission: any DownloadPermission
  ) throws(DownloadError) {
    self.options = options
    self.storage = storage
    self.files = files
    self.permission = permission
    fetcher = ContentFetcher(transport: options.transport, retry: options.retry, time: options.time)
    var last: String?
    while true {
      let page: [StoredRecord]
      do throws(RecordStorageError) {
        page = try storage.records(in: DownloadRecord.collection, after: last, limit: 256)
      } catch {
        throw Self.fault(error)
      }
      for stored in page {
        var entry = DownloadEntry(try DownloadRecord(stored))
        // What is wrong with a file is said when it is written.
        let byteCount = (try? files.byteCount(of: .partial(entry.fileName))) ?? nil
        entry.receivedByteCount = byteCount ?? 0
        entries[entry.record.id] = entry
      }
      guard let end = page.last?.key else { break }
      last = end
    }
  }

  /// Drops what belongs to transactions that were finished, and lets what waits go on.
  package func begin() async throws(DownloadError) {
    let known = Set(entries.values.map(\.fileName))
    for name in try files.partialNames() where !known.contains(name) { try? files.remove(.partial(name)) }
    for transaction in Set(entries.values.map { PaymentTransaction.ID(rawValue: $0.record.transaction) }) {
      if try await permission.content(of: transaction) == nil { try forget(transaction) }
    }
    schedule()
  }

  /// Stops all work. What was begun goes on after a relaunch.
  package func close() {
    isClosed = true
    for id in entries.keys { stopWork(id) }
    untold = []
  }

  // MARK: Reading

  /// Everything that was started, in the order of transactions.
  package var downloads: [Download] {
    entries.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { snapshot($0) }
  }

  func snapshot(_ id: Download.ID) -> Download? {
    entries[id]?.snapshot(now: options.time.elapsed(), files: files)
  }

  // MARK: Storing

  /// Stores records; `nil` removes one.
  func commit(_ records: [(id: Download.ID, record: DownloadRecord?)]) throws(DownloadError) {
    guard !isClosed else { throw DownloadError(.closed, "The queue was closed.") }
    let changes: [RecordChange] = records.map { id, record in
      if let record {
        .put(DownloadRecord.collection, key: id.rawValue, value: record.encodedJSON())
      } else {
        .remove(DownloadRecord.collection, key: id.rawValue)
      }
    }
    do throws(RecordStorageError) {
      try storage.commit(changes)
    } catch {
      throw Self.fault(error)
    }
  }

  static func fault(_ error: RecordStorageError) -> DownloadError {
    DownloadError(.storage, at: error.place, "\(error.code.rawValue): \(error.message)")
  }

  /// Ends what is being done for a download.
  func stopWork(_ id: Download.ID) {
    entries[id]?.work?.task.cancel()
    entries[id]?.work = nil
  }

  // MARK: Telling

  /// Tells of downloads as they are now. A slow listener hears of the latest state.
  func tell(_ downloads: [Download]) {
    for download in downloads {
      if let place = untold.firstIndex(where: { $0.id == download.id }) {
        untold[place] = download
      } else {
        untold.append(download)
      }
    }
    guard !isTelling, !untold.isEmpty else { return }
    isTelling = true
    Task {
      while let news = takeUntold() { await permission.downloadsChanged(news) }
    }
  }

  private func takeUntold() -> [Download]? {
    defer { untold = [] }
    isTelling = !untold.isEmpty
    return untold.isEmpty ? nil : untold
  }
}

/// What downloads ask of the owner of the transactions.
package protocol DownloadPermission: Sendable {
  /// The content of a transaction that is purchased or restored, and not finished; `nil` for any other.
  func content(
    of transaction: PaymentTransaction.ID
  ) async throws(DownloadError) -> [DownloadableContent]?

  /// Takes downloads as they are now. Calls come one after the other.
  func downloadsChanged(_ downloads: [Download]) async
}
