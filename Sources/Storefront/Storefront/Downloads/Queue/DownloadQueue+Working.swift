// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptHTTP

extension DownloadQueue {
  /// The number of bytes that are read at once to digest a file.
  private static let digestStep = 1 << 20
  private static let maximumRestartCount = 3

  /// Begins work on waiting downloads, oldest transactions first, until the maximum number is active.
  func schedule() {
    guard !isClosed else { return }
    var active = entries.values.count { $0.active != nil }
    guard active < options.maximumActiveCount else { return }
    for id in entries.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard active < options.maximumActiveCount else { return }
      guard let entry = entries[id], entry.record.state == .waiting, entry.active == nil else { continue }
      workCount += 1
      let work = DownloadWork(id: id, number: workCount)
      entries[id]?.active = DownloadEntry.Active(
        work: work, task: Task { await perform(work) }, began: options.time.elapsed(),
        beganAtByteCount: entry.receivedByteCount)
      active += 1
      report([id])
    }
  }

  /// Runs a download until it is finished or fails. If the work was paused, cancelled, closed or replaced by newer
  /// work, its errors are ignored.
  private func perform(_ work: DownloadWork) async {
    do throws(DownloadError) {
      let source = try await permittedSource(work)
      let name = try entry(work).fileName
      // Earlier work may have completed the file without storing the state.
      if try files.byteCount(of: .complete(name)) == source.length,
        try await digest(.complete(name), work) == source.sha256
      {
        try files.remove(.partial(name))
      } else {
        try await fetch(source, work)
        guard try await digest(.partial(name), work) == source.sha256 else {
          throw source.error(
            .checksumMismatch,
            "The content is not what the store says. Report it to the host of the content, then start it again."
          )
        }
      }
      try files.complete(name)
      try finish(work)
    } catch {
      fail(work, error)
    }
  }

  /// The download, if this is still its current work.
  private func entry(_ work: DownloadWork) throws(DownloadError) -> DownloadEntry {
    guard !isClosed, let entry = entries[work.id], entry.active?.work == work else {
      throw DownloadError(.closed, at: work.id.rawValue, "Other work has replaced this.")
    }
    return entry
  }

  private func permittedSource(_ work: DownloadWork) async throws(DownloadError) -> ContentSource {
    let entry = try entry(work)
    let contents = try await content(PaymentTransaction.ID(rawValue: entry.record.transaction))
    _ = try self.entry(work)
    guard contents != nil else { throw Self.notPurchased(work.id.rawValue) }
    return try ContentSource(entry.record.content)
  }

  // MARK: Fetching

  private func fetch(_ source: ContentSource, _ work: DownloadWork) async throws(DownloadError) {
    if source.length == 0 { try append([], work) }
    while true {
      let entry = try entry(work)
      let offset = entry.receivedByteCount
      if offset == source.length { return }
      guard offset < source.length else {
        try restart(work, at: source)
        continue
      }
      let piece = try await fetcher.piece(
        of: source, at: offset, count: options.chunkByteCount, validator: entry.record.validator,
        maximumWholeByteCount: options.maximumWholeByteCount)
      _ = try self.entry(work)
      switch piece {
      case .unsatisfiable: try restart(work, at: source)
      case .part(let bytes, let validator):
        // The validator is stored before the first bytes that it applies to.
        if offset == 0 {
          try update(work) { $0.validator = validator }
        } else if let validator, let known = entry.record.validator, validator != known {
          try restart(work, at: source)
          continue
        }
        try append(bytes, work)
      case .whole(let bytes, let validator):
        if offset > 0 { try restart(work, at: source) }
        try update(work) { $0.validator = validator }
        try append(bytes, work)
      }
    }
  }

  private func update(_ work: DownloadWork, _ change: (inout DownloadRecord) -> Void) throws(DownloadError) {
    let old = try entry(work).record
    var record = old
    change(&record)
    guard record != old else { return }
    try commit([record])
    entries[work.id]?.record = record
  }

  private func append(_ bytes: [UInt8], _ work: DownloadWork) throws(DownloadError) {
    let entry = try entry(work)
    guard try files.append(bytes, to: entry.fileName, at: entry.receivedByteCount) else {
      // Another process changed the file. Continue with its current length; the digest detects wrong bytes.
      try countRestart(work, at: work.id.rawValue)
      entries[work.id]?.receivedByteCount = try files.byteCount(of: .partial(entry.fileName)) ?? 0
      return
    }
    entries[work.id]?.receivedByteCount += Int64(bytes.count)
    report([work.id])
  }

  /// Removes received bytes and starts again.
  private func restart(_ work: DownloadWork, at source: ContentSource) throws(DownloadError) {
    try countRestart(work, at: source.place)
    try files.remove(.partial(try entry(work).fileName))
    entries[work.id]?.receivedByteCount = 0
    try update(work) { $0.validator = nil }
  }

  private func countRestart(_ work: DownloadWork, at place: String) throws(DownloadError) {
    let count = try entry(work).restartCount + 1
    try DownloadError.require(
      count <= Self.maximumRestartCount, .contentChanged, at: place,
      "The content changes while it is fetched. Try again later.")
    entries[work.id]?.restartCount = count
  }

  // MARK: Ending

  private func digest(_ file: DownloadFile, _ work: DownloadWork) async throws(DownloadError) -> [UInt8] {
    var digest = IncrementalDigest(.sha256)
    var offset: Int64 = 0
    while true {
      let bytes = try files.read(file, at: offset, count: Self.digestStep)
      if bytes.isEmpty { return digest.finalize() }
      digest.update(bytes)
      offset += Int64(bytes.count)
      // Digesting a long file must not block the actor.
      await Task.yield()
      _ = try entry(work)
    }
  }

  private func finish(_ work: DownloadWork) throws(DownloadError) {
    try update(work) {
      $0.state = .finished
      $0.error = nil
    }
    end(work)
  }

  private func fail(_ work: DownloadWork, _ error: DownloadError) {
    // A closed queue stops all work without changing the state of downloads.
    guard error.code != .closed, let entry = try? entry(work) else { return }
    var record = entry.record
    record.state = .failed
    record.error = SavedError(error)
    if [.contentChanged, .lengthMismatch, .checksumMismatch].contains(error.code) {
      record.validator = nil
      try? files.remove(.partial(entry.fileName))
      entries[work.id]?.receivedByteCount = 0
    }
    // If this cannot be stored, the download continues after a relaunch.
    try? commit([record])
    entries[work.id]?.record = record
    end(work)
  }

  private func end(_ work: DownloadWork) {
    entries[work.id]?.active = nil
    report([work.id])
    schedule()
  }
}
