// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FingerprintIndex
internal import Synchronization

extension AuditLog {
  /// Reads a snapshot of the trail.
  ///
  /// It is at least as new as the last append of this process, and as everything that other processes wrote before the
  /// call.
  ///
  /// - Throws: ``AuditError``, and the errors of `body`.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (TrailView) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Self.readers.async {
        continuation.resume(with: Swift.Result { try self.withView(body) })
      }
    }
  }

  /// Reads a snapshot of the trail, and blocks the thread; in a task, call ``read(_:)``.
  public func withView<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    var attempts = 0
    while true {
      attempts += 1
      // The state of the readers comes first: the stored state can then only be newer.
      let state = writer.states.published
      let result: Result? = try storage.read { reader in
        let stored = try context.keys.stored(in: reader, known: verifiedHead.withLock { $0 })
        verifiedHead.withLock { $0 = stored }
        guard stored.head.isSameTree(as: state.head) || isOwn(stored.head, after: state.head) else {
          return nil
        }
        var state = state
        state.index = try state.index.refreshed(to: stored.head.indexRoot, in: IndexRows(base: reader))
        return try body(TrailView(reader: reader, state: state, context: context))
      }
      if let result { return result }
      guard attempts < 100 else {
        throw AuditError(.storageUnavailable, "The trail changes faster than it can be read; try again.")
      }
      // There is nothing to read if this process has shown a newer state meanwhile.
      if writer.states.published.head == state.head { try writer.refresh() }
    }
  }

  /// Returns `true` if this opened trail wrote everything that a stored head has beyond `head`, and so will show it as
  /// soon as it is durable.
  ///
  /// Entries that other processes wrote must be read.
  private func isOwn(_ stored: TrailHead, after head: TrailHead) -> Bool {
    stored.size > head.size && stored.writer.writer == context.writer && stored.writer.from <= head.size
  }

  private static let readers = DispatchQueue(label: "receiptkit.audit-log.readers", attributes: .concurrent)
}
