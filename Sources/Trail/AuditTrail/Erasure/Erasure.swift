// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Erases the erasable parts of entries, in several transactions, so that others can write in between.
struct Erasure: Sendable {
  let writer: TrailWriter
  let publisher: Publisher
  let clock: @Sendable () -> Timestamp

  /// Erases entries and removes the traces of their keys, as ``AuditLog/erase(entries:progress:)`` says.
  func erase(
    _ indexes: [UInt64], progress: @Sendable (Int) -> Void
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    let now = clock().wholeMilliseconds ?? 0
    var erasures: [UInt64: AuditAcknowledgement] = [:]
    var rest = Set(indexes).sorted()[...]
    // Others write between these transactions, and wait at most about 400 milliseconds if the storage is slow.
    var length = 256
    while !rest.isEmpty {
      let slice = Array(rest.prefix(length))
      rest = rest.dropFirst(slice.count)
      let start = ContinuousClock.now
      let entered = try await BlockingWork.run { () throws(AuditError) in try writer.erase(slice, at: now) }
      for (index, erasure) in zip(slice, entered) { erasures[index] = erasure }
      let duration = ContinuousClock.now - start
      if duration > .milliseconds(400) { length = max(32, length / 2) }
      if duration < .milliseconds(150) { length = min(512, length * 2) }
      progress(erasures.count)
      // Others that wait for the storage's lock try it periodically, and must find it free.
      if !rest.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
    }
    try await BlockingWork.run { () throws(AuditError) in
      while try writer.removeUnfinishedIndex() {}
      try writer.synchronize()
      do { try writer.storage.scrub() } catch {
        throw AuditError(
          .storageUnavailable, at: "keys",
          "The entries were erased, but traces of their keys may be left in the storage's own logs: \(error) Erase "
            + "them again, which only removes the traces.")
      }
    }
    publisher.schedule()
    return indexes.compactMap { erasures[$0] }
  }
}
