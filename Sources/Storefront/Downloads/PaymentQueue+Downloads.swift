// SPDX-License-Identifier: Apache-2.0

/// Content that the store hosts for what was bought. Start downloads when a transaction is purchased or restored, move
/// what came to its place, and then finish the transaction.
extension PaymentQueue {
  /// Says where downloads go, and lets those go on that were begun before. Call it at launch. Calling it again does
  /// nothing.
  ///
  /// - Parameter options: The directory, the transport, how much at a time.
  /// - Throws: ``DownloadError`` with `storage`, `corrupt`, `input-output`, `disk-full` or `closed`.
  public func enableDownloads(_ options: DownloadOptions) async throws(DownloadError) {
    guard downloadQueue == nil else { return }
    try await enableDownloads(options, files: try DownloadFolder(options.directory))
  }

  /// The same with files of the caller's, which tests have fail.
  package func enableDownloads(
    _ options: DownloadOptions, files: any DownloadFiles
  ) async throws(DownloadError) {
    guard fault == nil else { throw DownloadError(.closed, "The queue was closed.") }
    let downloads = try DownloadQueue(
      options: options, storage: storage, files: files, permission: QueueDownloadPermission(queue: self))
    downloadQueue = downloads
    do throws(DownloadError) {
      try await downloads.begin()
    } catch {
      downloadQueue = nil
      await downloads.close()
      throw error
    }
  }

  /// The downloads that were started and belong to transactions that are not finished.
  public var downloads: [Download] {
    get async { await downloadQueue?.downloads ?? [] }
  }

  /// The downloads of a transaction (`downloads`), started or not.
  ///
  /// - Parameter transaction: One that is purchased or restored, and not finished.
  /// - Returns: A download for each content, in order; none where the transaction has no content.
  /// - Throws: ``DownloadError`` with `not-enabled` or `not-purchased`.
  public func downloads(of transaction: PaymentTransaction.ID) async throws(DownloadError) -> [Download] {
    try await requireDownloads().downloads(of: transaction)
  }

  /// Starts downloads (`startDownloads:`), all of them or none. They are fetched at once or when it is their turn, and
  /// go on after a relaunch. Those that were started before stay what they are; those that failed start again.
  ///
  /// - Parameter downloads: From ``downloads(of:)``.
  /// - Throws: ``DownloadError`` with `not-purchased` where one belongs to a transaction that is not purchased or
  ///   restored, or is finished; `invalid-content`, `storage`, `not-enabled` or `closed`. Then none was started.
  public func startDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().start(downloads)
  }

  /// Stops downloads until they are resumed (`pauseDownloads:`). What has come is kept.
  ///
  /// - Parameter downloads: Those that are neither waiting nor active stay what they are.
  /// - Throws: ``DownloadError`` with `unknown-download`, `storage`, `not-enabled` or `closed`.
  public func pauseDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().pause(downloads.map(\.id))
  }

  /// Lets downloads go on that were paused or failed (`resumeDownloads:`), from where they stopped.
  ///
  /// - Parameter downloads: Those that are neither paused nor failed stay what they are.
  /// - Throws: ``DownloadError`` as ``startDownloads(_:)``, or `unknown-download`.
  public func resumeDownloads(_ downloads: [Download]) async throws(DownloadError) {
    try await requireDownloads().resume(downloads.map(\.id))
  }

  /// Gives downloads up (`cancelDownloads:`): removes what has come, and takes them off the list. They may be started
  /// again.
  ///
  /// - Parameter downloads: Those that are finished stay what they are.
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

  // MARK: What the queue tells its downloads

  /// A transaction was finished.
  func endDownloads(of transaction: PaymentTransaction.ID) {
    guard let downloadQueue else { return }
    // Where the storage fails, the next launch does it.
    Task { try? await downloadQueue.forget(transaction) }
  }

  /// The queue was closed, or stopped.
  func closeDownloads() {
    guard let downloadQueue else { return }
    Task { await downloadQueue.close() }
  }

  /// What is asked for downloads.
  fileprivate func content(
    of transaction: PaymentTransaction.ID
  ) throws(DownloadError) -> [DownloadableContent]? {
    guard fault == nil else { throw DownloadError(.closed, "The queue was closed.") }
    guard let number = SequenceNumber(key: transaction.rawValue),
      let sale = ledger.transactions[number]?.storeTransaction
    else { return nil }
    return sale.downloads
  }
}

/// Asks a queue without keeping it.
private struct QueueDownloadPermission: DownloadPermission {
  weak let queue: PaymentQueue?

  func content(
    of transaction: PaymentTransaction.ID
  ) async throws(DownloadError) -> [DownloadableContent]? {
    guard let queue else { throw DownloadError(.closed, "The queue is gone.") }
    return try await queue.content(of: transaction)
  }

  func downloadsChanged(_ downloads: [Download]) async { await queue?.tell(.updatedDownloads(downloads)) }
}
