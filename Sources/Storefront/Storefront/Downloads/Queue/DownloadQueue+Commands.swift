// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension DownloadQueue {
  package func downloads(of transaction: PaymentTransaction.ID) async throws(DownloadError) -> [Download] {
    let contents = try await purchasedContent(of: transaction)
    return contents.enumerated().map { index, content in
      snapshot(Download.ID(transaction, index))
        ?? Download(transaction: transaction, index: index, content: content)
    }
  }

  package func start(_ downloads: [Download]) async throws(DownloadError) {
    for download in downloads {
      let contents = try await purchasedContent(of: download.transaction)
      guard contents.indices.contains(download.index), contents[download.index] == download.content else {
        throw Self.notPurchased(download.id.rawValue)
      }
      _ = try ContentSource(download.content)
    }
    var started: [DownloadRecord] = []
    for download in downloads where !started.contains(where: { $0.id == download.id }) {
      let state = entries[download.id]?.record.state
      if state == nil || state == .failed { started.append(DownloadRecord(download)) }
    }
    try apply(started)
  }

  package func pause(_ ids: [Download.ID]) throws(DownloadError) {
    try requireKnown(ids)
    try apply(records(of: ids, in: [.waiting]) { $0.state = .paused })
  }

  package func resume(_ ids: [Download.ID]) async throws(DownloadError) {
    try requireKnown(ids)
    for id in ids {
      guard let transaction = entries[id]?.record.transaction else { continue }
      _ = try await purchasedContent(of: PaymentTransaction.ID(rawValue: transaction))
    }
    try apply(
      records(of: ids, in: [.paused, .failed]) {
        $0.state = .waiting
        $0.error = nil
      })
  }

  private func records(
    of ids: [Download.ID], in states: Set<SavedState>, _ change: (inout DownloadRecord) -> Void
  ) -> [DownloadRecord] {
    Set(ids).compactMap { id in
      guard var record = entries[id]?.record, states.contains(record.state) else { return nil }
      change(&record)
      return record
    }
  }

  /// Stores new and changed downloads, and works on those that wait.
  private func apply(_ records: [DownloadRecord]) throws(DownloadError) {
    try requireOpen()
    guard !records.isEmpty else { return }
    try commit(records)
    for record in records {
      stopWork(record.id)
      var entry = entries[record.id] ?? DownloadEntry(record)
      // A new record has no validator. Keep that of the partial file.
      let validator = record.validator ?? entry.record.validator
      entry.record = record
      entry.record.validator = validator
      entry.restartCount = 0
      entries[record.id] = entry
    }
    report(records.map(\.id))
    schedule()
  }

  package func cancel(_ ids: [Download.ID]) throws(DownloadError) {
    try requireKnown(ids)
    try remove(Set(ids).filter { entries[$0]?.record.state != .finished })
  }

  /// Removes the downloads of a finished transaction. Complete files stay, because they belong to the app.
  package func forget(_ transaction: PaymentTransaction.ID) throws(DownloadError) {
    try remove(Set(entries.keys.filter { entries[$0]?.record.transaction == transaction.rawValue }))
  }

  private func remove(_ ids: Set<Download.ID>) throws(DownloadError) {
    guard !ids.isEmpty else { return }
    try commit([], removing: ids)
    var cancelled: [Download] = []
    for id in ids {
      stopWork(id)
      guard let entry = entries.removeValue(forKey: id), entry.record.state != .finished else { continue }
      // If a file cannot be removed now, the next launch removes it.
      try? files.remove(.partial(entry.fileName))
      var download = Download(entry.record)
      download.state = .cancelled
      cancelled.append(download)
    }
    notify(cancelled)
    schedule()
  }

  private func requireKnown(_ ids: [Download.ID]) throws(DownloadError) {
    try requireOpen()
    for id in ids where entries[id] == nil {
      throw DownloadError(.unknownDownload, at: id.rawValue, "It is not in the list: start it first.")
    }
  }

  private func purchasedContent(
    of transaction: PaymentTransaction.ID
  ) async throws(DownloadError) -> [DownloadableContent] {
    if let contents = try await content(transaction) { return contents }
    throw Self.notPurchased(transaction.rawValue)
  }

  static func notPurchased(_ place: String) -> DownloadError {
    DownloadError(
      .notPurchased, at: place,
      "Only content of a transaction that is purchased or restored, and not finished, is downloaded.")
  }
}
