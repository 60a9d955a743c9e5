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
    var started: [(id: Download.ID, record: DownloadRecord?)] = []
    for download in downloads where !started.contains(where: { $0.id == download.id }) {
      let state = entries[download.id]?.record.state
      guard state == nil || state == .failed else { continue }
      started.append((download.id, DownloadRecord(download)))
    }
    try enqueue(started)
  }

  package func pause(_ ids: [Download.ID]) throws(DownloadError) {
    try requireKnown(ids)
    let paused = records(of: ids, in: [.waiting]) { $0.state = .paused }
    guard !paused.isEmpty else { return }
    try commit(paused)
    for case (let id, let record?) in paused {
      stopWork(id)
      entries[id]?.record = record
    }
    report(paused.map(\.id))
    schedule()
  }

  package func resume(_ ids: [Download.ID]) async throws(DownloadError) {
    try requireKnown(ids)
    for id in ids {
      guard let transaction = entries[id]?.record.transaction else { continue }
      _ = try await purchasedContent(of: PaymentTransaction.ID(rawValue: transaction))
    }
    try enqueue(
      records(of: ids, in: [.paused, .failed]) {
        $0.state = .waiting
        $0.error = nil
      })
  }

  private func records(
    of ids: [Download.ID], in states: Set<SavedState>, _ change: (inout DownloadRecord) -> Void
  ) -> [(id: Download.ID, record: DownloadRecord?)] {
    Set(ids).compactMap { id in
      guard var record = entries[id]?.record, states.contains(record.state) else { return nil }
      change(&record)
      return (id, record)
    }
  }

  package func cancel(_ ids: [Download.ID]) throws(DownloadError) {
    try requireKnown(ids)
    let cancelled = Set(ids).filter { entries[$0]?.record.state != .finished }
    guard !cancelled.isEmpty else { return }
    try remove(Array(cancelled))
    schedule()
  }

  /// Removes the downloads of a finished transaction. Complete files stay, because they belong to the app.
  package func forget(_ transaction: PaymentTransaction.ID) throws(DownloadError) {
    let ids = entries.filter { $0.value.record.transaction == transaction.rawValue }.keys
    guard !ids.isEmpty else { return }
    try remove(Array(ids))
    schedule()
  }

  private func remove(_ ids: [Download.ID]) throws(DownloadError) {
    try commit(ids.map { ($0, nil) })
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
  }

  private func enqueue(_ records: [(id: Download.ID, record: DownloadRecord?)]) throws(DownloadError) {
    try requireOpen()
    guard !records.isEmpty else { return }
    try commit(records)
    for case (let id, let record?) in records {
      var entry = entries[id] ?? DownloadEntry(record)
      // A new record has no validator. Keep that of the partial file.
      let validator = record.validator ?? entry.record.validator
      entry.record = record
      entry.record.validator = validator
      entry.restartCount = 0
      entries[id] = entry
    }
    report(records.map(\.id))
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
    guard let contents = try await content(transaction) else {
      throw Self.notPurchased(transaction.rawValue)
    }
    return contents
  }

  static func notPurchased(_ place: String) -> DownloadError {
    DownloadError(
      .notPurchased, at: place,
      "Only content of a transaction that is purchased or restored, and not finished, is downloaded.")
  }
}
