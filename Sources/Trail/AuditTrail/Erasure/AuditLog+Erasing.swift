// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AuditLog {
  /// The number of entries that are erased in one transaction.
  ///
  /// Others write between these transactions, and wait no longer than about four hundred milliseconds if the storage is
  /// slow.
  private struct SliceLength {
    private(set) var count = 256

    mutating func adapt(to duration: Duration) {
      if duration > .milliseconds(400) { count = max(32, count / 2) }
      if duration < .milliseconds(150) { count = min(512, count * 2) }
    }
  }

  /// Erases the erasable parts of entries: the receipts and the customers' tokens.
  ///
  /// The entries themselves, their hashes and every proof stay unchanged. Each erasure and its time are recorded in an
  /// entry, in the same transaction.
  ///
  /// A part is erased by forgetting the key that it is encrypted with. It is then erased for every process, and in
  /// every copy that holds no keys. The index records that name its customer are removed too. An entry that was erased
  /// before is acknowledged as a repeat. If this throws, some of the entries may have been erased: call it again with
  /// all of them.
  ///
  /// - Parameters:
  ///   - indexes: The entries, in any order.
  ///   - progress: Called periodically with the number of entries that are done.
  /// - Returns: The acknowledgement of each entry's erasure.
  /// - Throws: ``AuditError``: ``AuditError/Code/noSuchEntry`` if an entry does not exist, or never had an erasable
  ///   part; ``AuditError/Code/storageUnavailable`` if traces of the keys may be left in the storage's own logs.
  @discardableResult
  public func erase(
    entries indexes: [UInt64], progress: @Sendable (Int) -> Void = { _ in }
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    let now = options.clock().wholeMilliseconds ?? 0
    let entries = Set(indexes).sorted()
    var erasures: [UInt64: AuditAcknowledgement] = [:]
    var rest = entries[...]
    var length = SliceLength()
    while !rest.isEmpty {
      let slice = Array(rest.prefix(length.count))
      rest = rest.dropFirst(slice.count)
      let start = ContinuousClock.now
      let entered = try await BlockingWork.run { [self] () throws(AuditError) in
        try writer.erase(slice, at: now)
      }
      for (index, erasure) in zip(slice, entered) { erasures[index] = erasure }
      length.adapt(to: .now - start)
      progress(erasures.count)
      // Others that wait for the storage's lock try it periodically, and must find it free.
      if !rest.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
    }
    try await BlockingWork.run { [self] () throws(AuditError) in
      while try writer.removeUnfinishedIndex() {}
      try writer.synchronize()
      try scrub()
    }
    publisher.schedule()
    return indexes.compactMap { erasures[$0] }
  }

  /// Erases the erasable part of one entry.
  ///
  /// - Returns: The acknowledgement of the erasure.
  /// - Throws: As ``erase(entries:progress:)``.
  @discardableResult
  public func erase(entry index: UInt64) async throws(AuditError) -> AuditAcknowledgement {
    let erasures = try await erase(entries: [index])
    guard let erasure = erasures.first else {
      throw AuditError(.noSuchEntry, at: "entry \(index)", "It is not there.")
    }
    return erasure
  }

  private func scrub() throws(AuditError) {
    do { try storage.scrub() } catch {
      throw AuditError(
        .storageUnavailable, at: "keys",
        "The entries were erased, but traces of their keys may be left in the storage's own logs: \(error) Erase them "
          + "again, which only removes the traces.")
    }
  }
}
