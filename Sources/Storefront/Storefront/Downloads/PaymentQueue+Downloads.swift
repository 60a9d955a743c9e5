// SPDX-License-Identifier: Apache-2.0

/// Downloads of content that the store hosts. Start them when a transaction is purchased or restored, move the files,
/// and then finish the transaction.
extension PaymentQueue {
  /// Enables downloads, and continues those that were started in earlier launches. Call it at launch. Calling it again
  /// has no effect.
  ///
  /// - Parameter options: The directory, the transport and the limits.
  /// - Throws: ``DownloadError`` with `storage`, `corrupt`, `input-output`, `disk-full` or `closed`.
  public func enableDownloads(_ options: DownloadOptions) async throws(DownloadError) {
    guard downloadQueue == nil else { return }
    try await enableDownloads(options, files: try DownloadFolder(options.directory))
  }

  /// Enables downloads with the caller's own files, for fault injection.
  package func enableDownloads(
    _ options: DownloadOptions, files: any DownloadFiles
  ) async throws(DownloadError) {
    guard fault == nil else { throw DownloadError(.closed, "The queue was closed.") }
    let downloads = try DownloadQueue(
      options: options, storage: storage, files: files,
      content: { [weak self] (transaction) async throws(DownloadError) in
        guard let self else { throw DownloadError(.closed, "The queue is gone.") }
        return try await self.content(of: transaction)
      },
      observer: { [weak self] in await self?.notify(.updatedDownloads($0)) })
    downloadQueue = downloads
    do throws(DownloadError) { try await downloads.begin() } catch {
      downloadQueue = nil
      await downloads.close()
      throw error
    }
  }

  /// The started downloads of transactions that are not finished.
  public var downloads: [Download] {
    get async { await downloadQueue?.downloads ?? [] }
  }

  /// The downloads of a transaction (`downloads`), started or not.
  ///
  /// - Parameter transaction: A transaction that is purchased or restored, and not finished.
  /// - Returns: A download for each content, in order; empty if the transaction has no content.
  /// - Throws: ``DownloadError`` with `not-enabled` or `not-purchased`.
  public func downloads(of transaction: PaymentTransaction.ID) async throws(DownloadError) -> [Download] {
    try await requireDownloads().downloads(of: transaction)
  }

  /// Starts downloads (`startDownloads:`), all of them or none.
  ///
  /// They are fetched when fewer than `maximumActiveCount` are active, and continue after a relaunch. A download that
  /// was started before is not changed, unless it failed: then it starts again.
  ///
  /// - Parameter downloads: From ``PaymentTransaction/downloads`` or ``downloads(of:)``.
  /// - Throws: ``DownloadError`` with `not-purchased` if a transaction is not purchased or restored, or is finished;
  ///   `invalid-content`, `storage`, `not-enabled` or `closed`. No download was started then.
  public func startDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().start(downloads)
  }

  /// Stops downloads until they are resumed (`pauseDownloads:`). Received bytes are kept.
  ///
  /// - Parameter downloads: The downloads; those that are neither waiting nor active are not changed.
  /// - Throws: ``DownloadError`` with `unknown-download`, `storage`, `not-enabled` or `closed`.
  public func pauseDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().pause(downloads.map(\.id))
  }

  /// Resumes downloads that were paused or failed (`resumeDownloads:`) from the point at which they stopped.
  ///
  /// - Parameter downloads: The downloads; those that are neither paused nor failed are not changed.
  /// - Throws: ``DownloadError`` as ``startDownloads(_:)``, or `unknown-download`.
  public func resumeDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().resume(downloads.map(\.id))
  }

  /// Cancels downloads (`cancelDownloads:`): removes received bytes and removes the downloads from the list. They can
  /// be started again.
  ///
  /// - Parameter downloads: The downloads; finished ones are not changed.
  /// - Throws: ``DownloadError`` with `unknown-download`, `storage`, `not-enabled` or `closed`.
  public func cancelDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().cancel(downloads.map(\.id))
  }

  private func requireDownloads() throws(DownloadError) -> DownloadQueue {
    if fault != nil { throw DownloadError(.closed, "The queue was closed.") }
    guard let downloadQueue else {
      throw DownloadError(.notEnabled, "Call enableDownloads(_:) at launch, to say where downloads go.")
    }
    return downloadQueue
  }

  // MARK: Notifying the downloads

  /// Removes the downloads of a finished transaction.
  func endDownloads(of transaction: PaymentTransaction.ID) {
    guard let downloadQueue else { return }
    // If the storage fails, the next launch removes them.
    Task { try? await downloadQueue.forget(transaction) }
  }

  /// Stops the downloads of a queue that was closed or that has stopped.
  func closeDownloads() {
    guard let downloadQueue else { return }
    Task { await downloadQueue.close() }
  }

  /// The content of a transaction that is purchased or restored, and not finished; otherwise `nil`.
  private func content(
    of transaction: PaymentTransaction.ID
  ) throws(DownloadError) -> [DownloadableContent]? {
    guard fault == nil else { throw DownloadError(.closed, "The queue was closed.") }
    guard let number = SequenceNumber(key: transaction.rawValue),
      let sale = ledger.transactions[number]?.storeTransaction
    else { return nil }
    return sale.downloads
  }
}

extension Download {
  /// The identifier of the download in its queue.
  public var id: ID { ID(transaction, index) }

  /// The content's identifier (`contentIdentifier`).
  public var contentIdentifier: String { content.contentIdentifier }

  /// The content's version (`contentVersion`).
  public var contentVersion: String { content.contentVersion }

  /// The content's length in bytes (`contentLength`).
  public var contentLength: Int64 { content.contentLength }

  /// The received fraction, from 0 to 1 (`progress`). The bytes are verified only in ``State/finished``.
  public var progress: Double {
    if state == .finished { return 1 }
    guard content.contentLength > 0 else { return 0 }
    return min(Double(receivedByteCount) / Double(content.contentLength), 1)
  }
}

extension Download.ID {
  init(_ transaction: PaymentTransaction.ID, _ index: Int) {
    self.init(rawValue: "\(transaction.rawValue)/\(index)")
  }
}
