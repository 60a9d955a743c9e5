// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FingerprintIndex
internal import Synchronization

extension AuditLog {
  /// Lends one state of the trail. It is at least as new as the last append that this process made, and as what
  /// other processes made before the call.
  ///
  /// - Throws: ``AuditError``, and whatever `body` throws.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (TrailView) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Self.readers.async {
        continuation.resume(with: Swift.Result { try self.withView(body) })
      }
    }
  }

  /// The same, blocking the thread.
  public func withView<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    var attempts = 0
    while true {
      attempts += 1
      // First what readers see, then what is stored: what is stored can then only be newer.
      let state = states.published
      let result: Result? = try storage.read { reader in
        let head = try TrailHead.read(reader)
        guard head.isSameTree(as: state.head) || head.size >= state.head.size && mayBeOwn(head) else {
          return nil
        }
        var state = state
        state.index = try state.index.refreshed(to: head.indexRoot, in: IndexRows(base: reader))
        return try body(TrailView(reader: reader, state: state, key: key, nodes: nodes))
      }
      if let result { return result }
      guard attempts < 100 else {
        throw AuditError(.storageUnavailable, "The trail changes faster than it can be read; try again.")
      }
      // What this process has shown meanwhile need not be read.
      if states.published.head == state.head { try refresh() }
    }
  }

  /// Whether a state that is stored, and newer than what readers see, may be one that this process is about to show: when
  /// it is committed and synced. What others wrote has to be read.
  private func mayBeOwn(_ head: TrailHead) -> Bool {
    isCommitting.load(ordering: .sequentiallyConsistent) || head.size <= states.written.head.size
  }

  private func refresh() throws(AuditError) {
    try change { writer throws(AuditError) in
      do { try writer.refresh() } catch { throw AuditError(error) }
    }
  }

  private static let readers = DispatchQueue(label: "receiptkit.audit-log.readers", attributes: .concurrent)
}
