// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptHTTP

extension DownloadQueue {
  /// The number of bytes that are read at a time to digest a file.
  private static let digestStep = 1 << 20
  /// After more restarts than this the download fails.
  private static let maximumRestartCount = 3

  /// Begins work on waiting downloads, oldest transactions first, until the greatest number is active.
  func schedule() {
    guard !isClosed else { return }
    var active = entries.values.reduce(0) { $0 + ($1.work == nil ? 0 : 1) }
    guard active < options.maximumActiveCount else { return }
    for id in entries.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard active < options.maximumActiveCount else { return }
      guard let entry = entries[id], entry.record.state == .waiting, entry.work == nil else { continue }
      workCount += 1
      let number = workCount
      entries[id]?.work = DownloadEntry.Work(
        number: number, task: Task { await work(on: id, number) }, began: options.time.elapsed(),
        beganAtByteCount: entry.receivedByteCount)
      active += 1
      notify([snapshot(id)].compactMap { $0 })
    }
  }

  /// Works on a download until it is finished or fails. The errors of work that was paused, cancelled, closed or
  /// replaced by newer work are ignored.
  private func work(on id: Download.ID, _ number: UInt64) async {
    do throws(DownloadError) {
      let source = try await permittedSource(id, number)
      let name = try entry(id, number).fileName
      // Earlier work may have completed the file without storing the state.
      if try files.byteCount(of: .complete(name)) == source.length,
        try await digest(.complete(name), id, number) == source.sha256
      {
        try files.remove(.partial(name))
      } else {
        try await fetch(source, id, number)
        guard try await digest(.partial(name), id, number) == source.sha256 else {
          throw DownloadError(
            .checksumMismatch, at: ContentFetcher.place(source.url),
            "The content is not what the store says. Report it to the host of the content, then start it again."
          )
        }
      }
      try files.complete(name)
      try finish(id, number)
    } catch {
      fail(id, number, error)
    }
  }

  /// The download, if `number` is still its current work.
  private func entry(_ id: Download.ID, _ number: UInt64) throws(DownloadError) -> DownloadEntry {
    guard !isClosed, let entry = entries[id], entry.work?.number == number else {
      throw DownloadError(.closed, at: id.rawValue, "Other work has replaced this.")
    }
    return entry
  }

  private func permittedSource(
    _ id: Download.ID, _ number: UInt64
  ) async throws(DownloadError) -> ContentSource {
    let entry = try entry(id, number)
    let contents = try await permission.content(of: PaymentTransaction.ID(rawValue: entry.record.transaction))
    _ = try self.entry(id, number)
    guard contents != nil else { throw Self.notPurchased(id.rawValue) }
    return try ContentSource(entry.content)
  }

  // MARK: Fetching

  private func fetch(_ source: ContentSource, _ id: Download.ID, _ number: UInt64) async throws(DownloadError)
  {
    if source.length == 0 { try append([], id, number) }
    var asksForWhole = false
    while true {
      let entry = try entry(id, number)
      let offset = entry.receivedByteCount
      if offset == source.length { return }
      if offset > source.length {
        try restart(id, number, at: source)
        continue
      }
      let piece: ContentFetcher.Piece
      if asksForWhole {
        piece = try await fetcher.whole(of: source.url, limit: Int(clamping: source.length))
      } else {
        piece = try await fetcher.part(
          of: source.url, at: offset, count: Int(min(source.length - offset, Int64(options.chunkByteCount))),
          validator: entry.record.validator)
      }
      _ = try self.entry(id, number)
      switch piece {
      case .part(let bytes, let total, let validator):
        try take(bytes, of: total, validator, source, id, number)
      case .whole(let bytes, let validator):
        guard Int64(bytes.count) == source.length else {
          throw Self.lengthMismatch(Int64(bytes.count), source)
        }
        if offset > 0 { try restart(id, number, at: source) }
        try keep(validator, id, number)
        try append(bytes, id, number)
      case .exceedsLimit:
        guard !asksForWhole else { throw Self.lengthMismatch(nil, source) }
        guard source.length <= Int64(options.maximumWholeByteCount) else {
          throw DownloadError(
            .rangesUnsupported, at: ContentFetcher.place(source.url),
            "The server gives all \(source.length) bytes at once. Host it where parts can be had.")
        }
        asksForWhole = true
      case .unsatisfiable:
        guard offset > 0 else { throw Self.lengthMismatch(0, source) }
        try restart(id, number, at: source)
      }
    }
  }

  private func take(
    _ bytes: [UInt8], of total: Int64?, _ validator: String?, _ source: ContentSource, _ id: Download.ID,
    _ number: UInt64
  ) throws(DownloadError) {
    let entry = try entry(id, number)
    if let total, total != source.length { throw Self.lengthMismatch(total, source) }
    if entry.receivedByteCount == 0 {
      try keep(validator, id, number)
    } else if let validator, let known = entry.record.validator, validator != known {
      return try restart(id, number, at: source)
    }
    try append(bytes, id, number)
  }

  /// Stores the validator before the first bytes that it belongs to.
  private func keep(_ validator: String?, _ id: Download.ID, _ number: UInt64) throws(DownloadError) {
    var record = try entry(id, number).record
    guard record.validator != validator else { return }
    record.validator = validator
    try commit([(id, record)])
    entries[id]?.record = record
  }

  private func append(_ bytes: [UInt8], _ id: Download.ID, _ number: UInt64) throws(DownloadError) {
    let entry = try entry(id, number)
    guard try files.append(bytes, to: entry.fileName, at: entry.receivedByteCount) else {
      // Another process changed the file. Continue with its current length: the digest detects wrong bytes.
      try countRestart(id, number, at: id.rawValue)
      entries[id]?.receivedByteCount = try files.byteCount(of: .partial(entry.fileName)) ?? 0
      return
    }
    entries[id]?.receivedByteCount += Int64(bytes.count)
    notify([snapshot(id)].compactMap { $0 })
  }

  /// Removes received bytes and starts again.
  private func restart(_ id: Download.ID, _ number: UInt64, at source: ContentSource) throws(DownloadError) {
    try countRestart(id, number, at: ContentFetcher.place(source.url))
    try files.remove(.partial(try entry(id, number).fileName))
    entries[id]?.receivedByteCount = 0
    try keep(nil, id, number)
  }

  private func countRestart(_ id: Download.ID, _ number: UInt64, at place: String) throws(DownloadError) {
    let count = try entry(id, number).restartCount + 1
    guard count <= Self.maximumRestartCount else {
      throw DownloadError(
        .contentChanged, at: place, "The content changes while it is fetched. Try again later.")
    }
    entries[id]?.restartCount = count
  }

  private static func lengthMismatch(_ found: Int64?, _ source: ContentSource) -> DownloadError {
    DownloadError(
      .lengthMismatch, at: ContentFetcher.place(source.url),
      "The store says \(source.length) bytes, the server has \(found.map { String($0) } ?? "more").")
  }

  // MARK: Ending

  private func digest(
    _ file: DownloadFile, _ id: Download.ID, _ number: UInt64
  ) async throws(DownloadError) -> [UInt8] {
    var digest = IncrementalDigest(.sha256)
    var offset: Int64 = 0
    while true {
      let bytes = try files.read(file, at: offset, count: Self.digestStep)
      if bytes.isEmpty { return digest.finalize() }
      digest.update(bytes)
      offset += Int64(bytes.count)
      // Digesting a long file must not block the actor.
      await Task.yield()
      _ = try entry(id, number)
    }
  }

  private func finish(_ id: Download.ID, _ number: UInt64) throws(DownloadError) {
    var record = try entry(id, number).record
    record.state = .finished
    record.error = nil
    try commit([(id, record)])
    endWork(id, record)
  }

  private func fail(_ id: Download.ID, _ number: UInt64, _ error: DownloadError) {
    // A closed queue stops all work without changing the state of downloads.
    guard error.code != .closed, let entry = try? entry(id, number) else { return }
    var record = entry.record
    record.state = .failed
    record.error = SavedError(error)
    if [.contentChanged, .lengthMismatch, .checksumMismatch].contains(error.code) {
      record.validator = nil
      try? files.remove(.partial(entry.fileName))
      entries[id]?.receivedByteCount = 0
    }
    // If this cannot be stored, the download continues after a relaunch.
    try? commit([(id, record)])
    endWork(id, record)
  }

  private func endWork(_ id: Download.ID, _ record: DownloadRecord) {
    entries[id]?.record = record
    entries[id]?.work = nil
    notify([snapshot(id)].compactMap { $0 })
    schedule()
  }
}
